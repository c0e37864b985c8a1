"""One timer for all open streams: it sends keep-alives during silence and drops clients that do not read.

A timer per stream would be reset with every chunk; this one checks all streams once per second.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from moongate.gateway.server.activity import Activity

TICK_SECONDS: Final = 1.0


class Ticking(Protocol):
    def tick(self) -> None:
        """Called once per tick."""
        ...


class Ticker:
    """Calls `tick` on every member, about once per second."""

    def __init__(self, seconds: float = TICK_SECONDS) -> None:
        self.seconds = seconds
        self.activity = Activity()  # of the worker whose streams these are
        self._members: set[Ticking] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._members)

    def add(self, member: Ticking) -> None:
        self._members.add(member)
        self._start_timer()

    def discard(self, member: Ticking) -> None:
        self._members.discard(member)  # the timer is not cancelled: it ends when it finds no member

    def _tick(self) -> None:
        self._timer = None
        for member in list(self._members):
            member.tick()
        if self._members:
            self._start_timer()

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._tick)
