"""The configuration file: read once, at the edge, into frozen types; every error says file, line and path."""
