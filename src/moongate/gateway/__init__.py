"""The server: configuration, routing, relay, attempts, keys, logs, metrics."""
