"""The request as it goes to the provider. Pure."""
