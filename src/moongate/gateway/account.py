"""What a finished turn adds to the counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moongate.gateway.meter import Meter
from moongate.gateway.turn import Turn

NOTHING: Final[Mapping[str, int]] = {}


def account(meter: Meter, turn: Turn, status: int, duration: float) -> Mapping[str, int]:
    """Count one turn; the notes by kind come back for the log."""
    meter.request(status, duration, None if turn.first is None else turn.first - turn.began)
    if turn.usage is not None:
        meter.tokens(turn.usage)
    if not turn.notes:
        return NOTHING
    kinds: dict[str, int] = {}
    note: Any  # a transformer of one's own may have notes of its own
    for note in turn.notes:
        kinds[note.kind] = kinds.get(note.kind, 0) + 1
    for kind, times in kinds.items():
        meter.repairs(kind, times)
    return kinds
