"""moongate makes Kimi behave."""
