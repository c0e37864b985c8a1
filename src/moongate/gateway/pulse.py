"""One timer for all open streams: keep-alives in silence, an end for clients that never read.

A timer per stream would be set anew with every chunk; this one looks round once per second and costs a chunk nothing.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

SECONDS: Final = 1.0


class Beating(Protocol):
    def beat(self) -> None:
        """A second has passed."""
        ...


class Pulse:
    """`add` what wants to hear the beat, `discard` it at its end."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._members: set[Beating] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._members)

    def add(self, member: Beating) -> None:
        self._members.add(member)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._beat)

    def discard(self, member: Beating) -> None:
        self._members.discard(member)  # a timer that finds nobody is not set again: cheaper than one for each stream

    def _beat(self) -> None:
        self._timer = None
        for member in list(self._members):
            member.beat()
        if self._members and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._beat)
