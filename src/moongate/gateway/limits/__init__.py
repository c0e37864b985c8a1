"""Limits of clients that hold over all workers of a machine: rates, tokens, concurrency, budgets."""
