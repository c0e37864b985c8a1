-- One row per request, in a partition per day, and sums by day.
-- The id holds the time: microseconds since 2025-01-01 in UTC, times 4096.
CREATE TABLE label (
    id INTEGER PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    client_key TEXT NOT NULL,
    team TEXT NOT NULL,
    front TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    worth TEXT NOT NULL,
    UNIQUE (client_key, team, front, provider, model, worth)
);

CREATE INDEX label_team ON label (team);

CREATE TABLE usage (
    id BIGINT PRIMARY KEY,
    label INTEGER NOT NULL,
    request TEXT NOT NULL,
    status SMALLINT NOT NULL,
    repairs INTEGER NOT NULL,
    attempts SMALLINT NOT NULL,
    input BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write BIGINT NOT NULL,
    output BIGINT NOT NULL,
    reasoning BIGINT NOT NULL,
    cost BIGINT,
    estimated SMALLINT NOT NULL,
    first_byte BIGINT,
    duration BIGINT NOT NULL
) PARTITION BY RANGE (id);

CREATE TABLE daily (
    day INTEGER NOT NULL,
    label INTEGER NOT NULL,
    requests BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    repairs BIGINT NOT NULL,
    input BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write BIGINT NOT NULL,
    output BIGINT NOT NULL,
    reasoning BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    unpriced BIGINT NOT NULL,
    estimated BIGINT NOT NULL,
    PRIMARY KEY (day, label)
);

CREATE VIEW usage_rows AS
SELECT
    usage.id,
    to_timestamp((usage.id >> 12) / 1e6 + 1735689600) AS time,
    request, client_key, team, front, provider, model, worth, status, repairs, attempts,
    input, cache_read, cache_write, output, reasoning, cost / 1e6 AS dollars, estimated,
    first_byte / 1e6 AS first_byte_seconds, duration / 1e6 AS duration_seconds
FROM usage JOIN label ON label.id = usage.label;
