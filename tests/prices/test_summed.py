"""The usage of several answers to one request."""

from __future__ import annotations

from moongate.prices.summed import summed_usage
from moongate.prices.tokens import TokenCounts, counts_of


def test_the_sum_counts_every_kind_of_token() -> None:
    first = {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    second = {"prompt_tokens": 7, "completion_tokens": 1}
    total = summed_usage([first, None, second, {"prompt_tokens": "x"}])
    assert total is not None
    assert (total["prompt_tokens"], total["completion_tokens"], total["total_tokens"]) == (17, 4, 21)
    assert counts_of(total) == TokenCounts(12, 4, 1, 4, 2)


def test_nothing_is_known_of_nothing() -> None:
    assert summed_usage([None, {}]) is None
