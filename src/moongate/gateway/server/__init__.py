"""From sockets to requests."""
