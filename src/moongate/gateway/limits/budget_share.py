"""How much of its budgets an account has spent, and from where on its client is warned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moongate.gateway.limits.account import Account

WARNING_SHARE: Final = 0.8


def is_nearly_spent(account: Account) -> bool:
    """Is most of a budget spent, of money or of tokens?"""
    money, tokens = account.warn_money, account.warn_tokens
    return (money is not None and account.spent_money >= money) or (
        tokens is not None and account.spent_tokens >= tokens
    )


def used_share(account: Account) -> float:
    """The share that is spent, of money or of tokens, whichever is more."""
    limits = account.limits
    return max(_share(account.spent_money, limits.budget), _share(account.spent_tokens, limits.token_budget))


def _share(spent: int, limit: int | None) -> float:
    if limit is None:
        return 0.0
    return spent / limit if limit else 1.0
