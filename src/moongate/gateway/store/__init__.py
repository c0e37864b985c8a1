"""Keys, teams, usage and the audit log, in SQLite or PostgreSQL, and the journal between requests and the database."""
