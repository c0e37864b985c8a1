"""How long the waits of a stream may last."""

from __future__ import annotations

from dataclasses import dataclass

from moongate.gateway.config.limit_settings import Timeouts


@dataclass(frozen=True, slots=True)
class StreamTimeouts:
    """Seconds; of keep-alives the ticks that silence may last."""

    commit: float
    keep_alive: int
    first_event: float
    unread: float

    @classmethod
    def of(cls, timeouts: Timeouts, tick: float) -> StreamTimeouts:
        def ticks(seconds: float) -> int:
            return max(1, round(seconds / tick))

        return cls(timeouts.commit, ticks(timeouts.keep_alive), timeouts.first_event, timeouts.client_unread)
