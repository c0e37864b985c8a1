"""The error that a client gets when a limit refuses its request."""

from __future__ import annotations

import pytest

from moongate.gateway.http.limit_errors import LimitExceeded, QuotaExceeded, limit_error
from moongate.gateway.http.upstream_errors import error_headers
from moongate.gateway.limits.limit_set import Refusal

RESET = 20_776 * 86_400


@pytest.mark.parametrize(
    ("refusal", "status", "code", "kind", "words", "retry"),
    [
        (Refusal("rpm", "key", 60, 0.2), 429, "rate_limit_exceeded", "rate_limit_error", "key may send 60 req", "true"),
        (Refusal("tpm", "team", 9, 3.0), 429, "rate_limit_exceeded", "rate_limit_error", "team of this client", "true"),
        (
            Refusal("concurrency", "key", 2, 1.0),
            429,
            "concurrency_limit",
            "rate_limit_error",
            "2 requests at the",
            "true",
        ),
        (
            *(Refusal("budget", "key", 1_500_000, 600.0, RESET, transient=False), 429, "insufficient_quota"),
            *("insufficient_quota", "1.50 dollars, which is used up; it resets on 2026-11-19 at 00:00 UTC", "false"),
        ),
        (
            *(Refusal("token_budget", "team", 7, None, None, transient=False), 429, "insufficient_quota"),
            *("insufficient_quota", "a budget of 7 tokens, which is used up", "false"),
        ),
        (
            *(Refusal("budget", "key", 1_500_000, 1.0, RESET), 429, "budget_reserved", "rate_limit_error"),
            *("which the requests in flight may use up", "true"),
        ),
        (Refusal("price", "key", 5, None), 403, "price_unknown", "permission_error", "price of this model", "false"),
    ],
)
def test_an_error_says_which_limit_and_when_to_come_back(
    refusal: Refusal, status: int, code: str, kind: str, words: str, retry: str
) -> None:
    error = limit_error(refusal)
    assert (error.status, error.code, error.kind) == (status, code, kind)
    assert words in error.message
    headers = dict(error_headers(error, "POST"))
    assert headers[b"x-should-retry"].decode() == retry
    assert (b"retry-after" in headers) == (refusal.retry_after is not None)


def test_a_budget_resets_in_the_seconds_that_are_left_of_its_days() -> None:
    error = limit_error(Refusal("budget", "key", 1_500_000, 86_400.0, RESET, transient=False), lambda: RESET - 90.0)
    assert isinstance(error, QuotaExceeded)
    assert dict(error.headers)[b"ratelimit-reset"] == b"90"


def test_headers_say_how_much_is_allowed() -> None:
    error = limit_error(Refusal("rpm", "key", 60, 0.2))
    assert isinstance(error, LimitExceeded)
    assert dict(error.headers) == {b"ratelimit-limit": b"60", b"ratelimit-remaining": b"0", b"ratelimit-reset": b"1"}
    assert (error.retry_after, isinstance(error, QuotaExceeded)) == (1, False)
