"""What a finished turn adds to the counters."""

from __future__ import annotations

from typing import Any

from moongate.gateway.metrics import Metrics
from moongate.gateway.state import Meter
from moongate.gateway.turn import Turn


def account(metrics: Metrics, meter: Meter, turn: Turn, status: int, duration: float) -> dict[str, int]:
    """Count one turn; the notes by kind come back for the log."""
    meter.request(status)
    meter.duration.observe(duration)
    if turn.first is not None:
        meter.first.observe(turn.first - turn.began)
    if turn.usage is not None:
        _count_tokens(metrics, meter, turn.usage)
    kinds: dict[str, int] = {}
    for note in turn.notes:
        kinds[note.kind] = kinds.get(note.kind, 0) + 1
    for kind, times in kinds.items():
        meter.repairs(kind, times)
    return kinds


def _count_tokens(metrics: Metrics, meter: Meter, usage: dict[str, Any]) -> None:
    values = metrics.values
    values[meter.read] += _whole(usage.get("prompt_tokens"))
    values[meter.written] += _whole(usage.get("completion_tokens"))
    details = usage.get("prompt_tokens_details")
    if isinstance(details, dict):
        values[meter.cached] += _whole(details.get("cached_tokens"))


def _whole(value: object) -> int:
    """A provider may write anything; what is no count counts nothing."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else 0
