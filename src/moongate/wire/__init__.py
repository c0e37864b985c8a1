"""Bytes to frames: server-sent events and NDJSON."""
