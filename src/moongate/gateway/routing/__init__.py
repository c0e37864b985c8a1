"""Which target answers, and what happens when it does not."""
