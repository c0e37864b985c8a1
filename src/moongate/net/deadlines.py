"""Phase deadlines of an exchange, and the one timer a connection needs to keep them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds per phase. `whole` covers everything after the connection stands."""

    connect: float = 5
    head: float = 120
    first: float = 120
    silence: float = 60
    whole: float = 3600


class Alarm:
    """A deadline that costs an assignment to postpone.

    The timer is only touched when the deadline moves before the time it is armed for;
    when it rings too early it arms itself again for the rest.
    """

    __slots__ = ("_armed", "_loop", "_ring", "_timer", "due")

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._timer: asyncio.TimerHandle | None = None
        self._armed = inf
        self.due = inf  # may be assigned directly if it only moves later

    def set(self, due: float) -> None:
        """Ring at `due` (loop time) unless it is moved; `inf` is never."""
        self.due = due
        if due < self._armed:
            self.stop()
            self._armed = due
            self._timer = self._loop.call_at(due, self._fire)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._armed = inf

    def _fire(self) -> None:
        self._timer = None
        self._armed = inf
        if self._loop.time() >= self.due:
            self._ring()
        else:
            self.set(self.due)
