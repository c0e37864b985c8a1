"""The error that a client gets when a limit of its key or team refuses a request."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from time import gmtime, strftime, time
from typing import Final

from moongate.errors import Forbidden, GatewayError, TooManyRequests
from moongate.gateway.limits.limit_set import Refusal
from moongate.gateway.store.fields import DOLLAR, money_text

_WORDS: Final = {
    "rpm": "may send {:d} requests per minute",
    "tpm": "may use {:d} tokens per minute",
    "concurrency": "may have {:d} requests at the same time",
    "token_budget": "has a budget of {:d} tokens, which is used up",
}
_CODES: Final = {"rpm": "rate_limit_exceeded", "tpm": "rate_limit_exceeded", "concurrency": "concurrency_limit"}
_OWNERS: Final = {"key": "This client key", "team": "The team of this client key"}


class LimitExceeded(TooManyRequests):
    """A limit refused the request. `headers` say which one and when there is room again."""

    def __init__(self, message: str, *, code: str, retry_after: float | None, allowed: int) -> None:
        super().__init__(message, code=code, retry_after=retry_after)
        self.headers = [(b"ratelimit-limit", b"%d" % allowed), (b"ratelimit-remaining", b"0")]
        if retry_after is not None:
            self.headers.append((b"ratelimit-reset", b"%d" % ceil(retry_after)))


class QuotaExceeded(LimitExceeded):
    """A budget is used up: asking again does not help before it resets."""

    kind = "insufficient_quota"


def limit_error(refusal: Refusal, clock: Callable[[], float] = time) -> GatewayError:
    """The error of a refused request: which limit, whose, and when to come back."""
    who, limit, allowed = _OWNERS[refusal.owner], refusal.limit, refusal.allowed
    if limit == "price":
        text = f"{who} has a budget in money, and the price of this model is not known: the operator can set 'price'"
        return Forbidden(text, code="price_unknown")
    if limit == "budget":
        words = f"{who} has a budget of {money_text(allowed / DOLLAR)} dollars, which is used up"
    else:
        words = f"{who} {_WORDS[limit].format(allowed)}"
    if limit in _CODES:
        assert refusal.retry_after is not None
        return LimitExceeded(words, code=_CODES[limit], retry_after=ceil(refusal.retry_after), allowed=allowed)
    if refusal.transient:
        words = words.replace("which is used up", "which the requests in flight may use up")
        return LimitExceeded(words, code="budget_reserved", retry_after=refusal.retry_after, allowed=allowed)
    wait = None
    if refusal.resets_at is not None:
        words += f"; it resets on {strftime('%Y-%m-%d', gmtime(refusal.resets_at))} at 00:00 UTC"
        wait = max(1.0, refusal.resets_at - clock())
    return QuotaExceeded(words, code="insufficient_quota", retry_after=wait, allowed=allowed)
