"""The counters of one target seen from one front."""

from __future__ import annotations

from typing import Final

from moongate.gateway.metrics import Metrics
from moongate.payload import JsonObject

MAX_KINDS: Final = 64  # kinds of repairs that are counted by name: a transformer of one's own may invent any number


class Meter:
    """A turn is counted with three calls at most: each is a few additions to slots that were looked up before."""

    __slots__ = (
        "_cached",
        "_duration",
        "_first",
        "_front",
        "_metrics",
        "_read",
        "_repairs",
        "_requests",
        "_target",
        "_written",
    )

    def __init__(self, metrics: Metrics, provider: str, model: str, front: str) -> None:
        self._metrics = metrics
        self._target = {"model": model, "provider": provider}
        self._front = front
        self._requests: dict[int, int] = {}
        self._repairs: dict[str, int] = {}
        self._first = metrics.times("moongate_first_byte_seconds", **self._target, front=front)
        self._duration = metrics.times("moongate_duration_seconds", **self._target, front=front)
        self._read = metrics.counter("moongate_tokens_total", **self._target, kind="input")
        self._cached = metrics.counter("moongate_tokens_total", **self._target, kind="cached")
        self._written = metrics.counter("moongate_tokens_total", **self._target, kind="output")

    def request(self, status: int, duration: float, first: float | None) -> None:
        """An answer, the seconds that it took, and those to its first byte, if there was one."""
        slot = self._requests.get(status)
        if slot is None:
            slot = self._requests[status] = self._metrics.counter(
                "moongate_requests_total", **self._target, front=self._front, status=str(status)
            )
        self._metrics.values[slot] += 1
        self._duration.observe(duration)
        if first is not None:
            self._first.observe(first)

    def tokens(self, usage: JsonObject) -> None:
        """As the provider counted them. It may write anything; what is no count counts nothing."""
        values = self._metrics.values
        values[self._read] += _count(usage.get("prompt_tokens"))
        values[self._written] += _count(usage.get("completion_tokens"))
        details = usage.get("prompt_tokens_details")
        if isinstance(details, dict):
            values[self._cached] += _count(details.get("cached_tokens"))

    def repairs(self, kind: str, times: int) -> None:
        slot = self._repairs.get(kind)
        if slot is None:
            if len(self._repairs) >= MAX_KINDS:
                kind = "other"
            slot = self._repairs[kind] = self._metrics.counter("moongate_repairs_total", kind=kind, **self._target)
        self._metrics.values[slot] += times


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < 1 << 40 else 0
