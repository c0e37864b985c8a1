"""Transformers in a chain, and the session that runs bytes through it. Pure."""
