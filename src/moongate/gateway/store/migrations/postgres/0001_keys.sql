-- Keys, teams and the audit log. Times are seconds since 1970 in UTC, money is millionths of a dollar.
CREATE TABLE team (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    models TEXT NOT NULL,
    rpm BIGINT NOT NULL,
    tpm BIGINT NOT NULL,
    concurrency BIGINT NOT NULL,
    budget BIGINT,
    token_budget BIGINT,
    reset TEXT NOT NULL,
    disabled SMALLINT NOT NULL,
    metadata TEXT NOT NULL,
    created BIGINT NOT NULL
);

CREATE TABLE client_key (
    id TEXT PRIMARY KEY,
    digest BYTEA NOT NULL UNIQUE,
    label TEXT NOT NULL,
    name TEXT NOT NULL,
    team TEXT REFERENCES team (id),
    models TEXT NOT NULL,
    rpm BIGINT NOT NULL,
    tpm BIGINT NOT NULL,
    concurrency BIGINT NOT NULL,
    budget BIGINT,
    token_budget BIGINT,
    reset TEXT NOT NULL,
    disabled SMALLINT NOT NULL,
    metadata TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT,
    last_used BIGINT,
    previous_digest BYTEA,
    previous_until BIGINT
);

CREATE INDEX client_key_team ON client_key (team);

CREATE TABLE audit (
    id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    time BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- Grows with every change of a key or team, so that gateways notice.
CREATE TABLE revision (number BIGINT NOT NULL);

INSERT INTO revision VALUES (0);
