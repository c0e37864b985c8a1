"""What a request meets: authentication, limits, pages, errors, the relay."""
