-- One row per request, and sums by day. The id holds the time: microseconds since 2025-01-01 in UTC, times 4096.
CREATE TABLE label (
    id INTEGER PRIMARY KEY,
    client_key TEXT NOT NULL,
    team TEXT NOT NULL,
    front TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    worth TEXT NOT NULL,
    UNIQUE (client_key, team, front, provider, model, worth)
) STRICT;

CREATE INDEX label_team ON label (team);

CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    label INTEGER NOT NULL,
    request TEXT NOT NULL,
    status INTEGER NOT NULL,
    repairs INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    input INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    cost INTEGER,
    estimated INTEGER NOT NULL,
    first_byte INTEGER,
    duration INTEGER NOT NULL
) STRICT;

CREATE TABLE daily (
    day INTEGER NOT NULL,
    label INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    repairs INTEGER NOT NULL,
    input INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    PRIMARY KEY (day, label)
) STRICT, WITHOUT ROWID;

CREATE VIEW usage_rows AS
SELECT
    usage.id,
    strftime('%Y-%m-%dT%H:%M:%fZ', (usage.id >> 12) / 1e6 + 1735689600, 'unixepoch') AS time,
    request, client_key, team, front, provider, model, worth, status, repairs, attempts,
    input, cache_read, cache_write, output, reasoning, cost / 1e6 AS dollars, estimated,
    first_byte / 1e6 AS first_byte_seconds, duration / 1e6 AS duration_seconds
FROM usage JOIN label ON label.id = usage.label;
