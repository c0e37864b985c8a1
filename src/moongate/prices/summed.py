"""The usage of several answers to one request, as one."""

from __future__ import annotations

from collections.abc import Iterable

from moongate.payload import JsonObject
from moongate.prices.tokens import counts_of


def summed_usage(usages: Iterable[JsonObject | None]) -> JsonObject | None:
    """The sum of those that say how many tokens were read and written; None if none does."""
    counts = [found for usage in usages if (found := counts_of(usage)) is not None]
    if not counts:
        return None
    fresh, read, written, output, reasoning = (sum(each[at] for each in counts) for at in range(5))
    return {
        "prompt_tokens": fresh + read + written,
        "completion_tokens": output,
        "total_tokens": fresh + read + written + output,
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
