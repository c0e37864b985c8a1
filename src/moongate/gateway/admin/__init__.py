"""The admin listener: keys, teams, usage, the audit log and metrics for operators, on an address of its own."""
