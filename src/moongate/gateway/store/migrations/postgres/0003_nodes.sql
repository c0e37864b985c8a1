-- The number that each gateway puts into the ids of its rows, so that no two make the same.
CREATE TABLE node (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    claimed BIGINT NOT NULL
);
