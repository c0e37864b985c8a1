"""The answer as it goes to the client. Pure."""
