-- Keys, teams and the audit log. Times are seconds since 1970 in UTC, money is millionths of a dollar.
CREATE TABLE team (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    models TEXT NOT NULL,
    rpm INTEGER NOT NULL,
    tpm INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    budget INTEGER,
    token_budget INTEGER,
    reset TEXT NOT NULL,
    disabled INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;

CREATE TABLE client_key (
    id TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    label TEXT NOT NULL,
    name TEXT NOT NULL,
    team TEXT REFERENCES team (id),
    models TEXT NOT NULL,
    rpm INTEGER NOT NULL,
    tpm INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    budget INTEGER,
    token_budget INTEGER,
    reset TEXT NOT NULL,
    disabled INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    last_used INTEGER,
    previous_digest BLOB,
    previous_until INTEGER
) STRICT;

CREATE INDEX client_key_team ON client_key (team);

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;

-- Grows with every change of a key or team, so that gateways notice.
CREATE TABLE revision (number INTEGER NOT NULL) STRICT;

INSERT INTO revision VALUES (0);
