"""The counters of one target (a provider's model)."""

from __future__ import annotations

from typing import Final

from moongate.gateway.record.metrics import OVERHEAD, Metrics
from moongate.payload import JsonObject

MAX_KINDS: Final = 64  # kinds of repairs that are counted by name: a custom transformer may invent any number


class TargetCounters:
    """The counters of one target (a provider's model) under one front. The slots are looked up once."""

    __slots__ = (
        *("_cached_tokens", "_duration", "_first_byte", "_front", "_input_tokens", "_labels", "_metrics"),
        *("_cost", "_cost_unknown", "_output_tokens", "_overhead", "_repairs", "_requests", "_written_tokens"),
    )

    def __init__(self, metrics: Metrics, provider: str, model: str, front: str) -> None:
        self._metrics = metrics
        self._labels = {"model": model, "provider": provider}
        self._front = front
        self._requests: dict[int, int] = {}
        self._repairs: dict[tuple[str, str], int] = {}
        self._first_byte = metrics.histogram("moongate_first_byte_seconds", **self._labels, front=front)
        self._duration = metrics.histogram("moongate_duration_seconds", **self._labels, front=front)
        self._overhead = metrics.histogram(OVERHEAD, front=front)
        self._input_tokens = metrics.counter("moongate_tokens_total", **self._labels, kind="input")
        self._cached_tokens = metrics.counter("moongate_tokens_total", **self._labels, kind="cached")
        self._written_tokens = metrics.counter("moongate_tokens_total", **self._labels, kind="cache_write")
        self._cost: int | None = None  # a provider without prices has no series: it is not known to cost nothing
        self._cost_unknown = metrics.counter("moongate_cost_unknown_total", **self._labels)
        self._output_tokens = metrics.counter("moongate_tokens_total", **self._labels, kind="output")

    def count_request(self, status: int, duration: float, first_byte: float | None) -> None:
        """One answer, its duration in seconds, and the seconds to its first byte, if there was one."""
        slot = self._requests.get(status)
        if slot is None:
            slot = self._requests[status] = self._metrics.counter(
                "moongate_requests_total", **self._labels, front=self._front, status=str(status)
            )
        self._metrics.values[slot] += 1
        self._duration.observe(duration)
        if first_byte is not None:
            self._first_byte.observe(first_byte)

    def count_overhead(self, seconds: float) -> None:
        """Of one request, before its first attempt."""
        self._overhead.observe(seconds)

    def count_tokens(self, usage: JsonObject) -> None:
        """As the provider counted them. `usage` is arbitrary JSON: a value that is no count is ignored."""
        values = self._metrics.values
        values[self._input_tokens] += _token_count(usage.get("prompt_tokens"))
        values[self._output_tokens] += _token_count(usage.get("completion_tokens"))
        details = usage.get("prompt_tokens_details")
        if isinstance(details, dict):
            values[self._cached_tokens] += _token_count(details.get("cached_tokens"))
            values[self._written_tokens] += _token_count(details.get("cache_write_tokens"))

    def count_cost(self, cost: int | None) -> None:
        """Of one answer, in millionths of a dollar; None: it is not known, which is not zero."""
        if cost is None:
            self._metrics.values[self._cost_unknown] += 1
            return
        if self._cost is None:
            self._cost = self._metrics.counter("moongate_cost_dollars_total", **self._labels)
        self._metrics.values[self._cost] += cost

    def count_repairs(self, kind: str, mends: str, number: int = 1) -> None:
        """`mends`: whose work is repaired, the `vendor`'s or the `client`'s."""
        if len(self._repairs) >= MAX_KINDS and (kind, mends) not in self._repairs:
            kind, mends = "other", "vendor"
        slot = self._repairs.get((kind, mends))
        if slot is None:
            slot = self._metrics.counter("moongate_repairs_total", kind=kind, **self._labels, mends=mends)
            self._repairs[kind, mends] = slot
        self._metrics.values[slot] += number


def _token_count(value: object) -> int:
    return value if type(value) is int and 0 <= value < 1 << 40 else 0
