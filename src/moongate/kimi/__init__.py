"""Everything that is true of Kimi models and of the hosts that serve them. Pure."""
