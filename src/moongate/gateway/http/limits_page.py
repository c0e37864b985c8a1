"""`GET /v1/key`: what a client may do with its key, and what is left of it."""

from __future__ import annotations

from moongate.gateway.http.auth import Client
from moongate.gateway.limits.account import Account
from moongate.gateway.limits.limiter import Limiter
from moongate.payload import JsonObject

DOLLAR = 1_000_000


def limits_page(client: Client, limiter: Limiter) -> JsonObject:
    """Money is in dollars, times are seconds since 1970; null is no limit."""
    limiter.begin_windows(client.accounts)
    return {
        "object": "key",
        "id": client.key_id,
        "name": client.name,
        "team": client.team_id or None,
        "models": [list(patterns) for patterns in client.allowed] or None,
        "expires": client.expires,
        "limits": [_limits(account, limiter) for account in client.accounts],
    }


def _limits(account: Account, limiter: Limiter) -> JsonObject:
    limits, now = account.limits, limiter.now()
    return {
        "of": account.owner,
        "requests_per_minute": {"limit": limits.rpm or None, "remaining": account.remaining_requests(now)},
        "tokens_per_minute": {"limit": limits.tpm or None, "remaining": account.remaining_tokens(now)},
        "concurrency": {"limit": limits.concurrency or None, "in_flight": account.in_flight},
        "budget": None if limits.budget is None else _money(limits.budget, account.spent_money),
        "token_budget": None if limits.token_budget is None else _budget(limits.token_budget, account.spent_tokens),
        "reset": limits.reset,
        "resets_at": account.resets_at(limiter.today()),
    }


def _budget(limit: int, spent: int) -> JsonObject:
    return {"limit": limit, "spent": spent, "remaining": max(0, limit - spent)}


def _money(limit: int, spent: int) -> JsonObject:
    return {name: value / DOLLAR for name, value in _budget(limit, spent).items()}
