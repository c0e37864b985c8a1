"""The parts of budgets that each gateway has while the shared state is away."""

from __future__ import annotations

from collections.abc import Mapping

from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.store.snapshot import Spent


def raise_spent(limiter: Limiter, spent: Mapping[bytes, Spent], divisor: int) -> None:
    """Adopt the spending that the store reports, where it is more than is known here, and divide the rest again."""
    for account in limiter.accounts:
        found = spent.get(account.identity)
        if found is not None and found.window_start == account.current_window(limiter.today()):
            known = account.spent_money, account.spent_tokens
            more = max(found.money, known[0]), max(found.tokens, known[1])
            if more != known:
                account.load(found.window_start, *more)
                account.change(account.limits, divisor)


def lower_parts(limiter: Limiter, spent: Mapping[bytes, Spent]) -> None:
    """Let no part be more than the store says is left: if the link of this gateway is cut, others have the whole."""
    for account in limiter.accounts:
        found = spent.get(account.identity)
        if found is not None and found.window_start == account.current_window(limiter.today()):
            account.lower(found.money, found.tokens)
