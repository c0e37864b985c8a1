"""The deadlines of an exchange's phases, and the one timer that a connection needs to keep them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

from moongate.errors import UpstreamTimeout

_LATE: Final = {
    "head": " sent no answer in time",
    "first": " sent no first event in time",
    "silence": " stopped sending in the middle of its answer",
    "whole": "'s answer took too long",
}


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds per phase. `head`, `first_byte` and `total` count from the request, `silence` from the last byte."""

    connect: float = 5
    head: float = 120
    first_byte: float = 120
    silence: float = 300
    total: float = 3600


def late_answer(phase: str) -> UpstreamTimeout:
    """The error for a phase that took too long: "head", "first" (byte or event), "silence" or "whole"."""
    return UpstreamTimeout(f"the provider{_LATE[phase]}", code=f"{phase}_timeout")


class DeadlineTimer:
    """A deadline that is postponed by an assignment.

    The loop's timer is only touched when the deadline moves to before the time that it is set for; when it fires too
    early it is set again for the rest.
    """

    __slots__ = ("_handle", "_loop", "_on_deadline", "_scheduled_for", "due")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_deadline: Callable[[], None]) -> None:
        self._loop = loop
        self._on_deadline = on_deadline
        self._handle: asyncio.TimerHandle | None = None
        self._scheduled_for = inf
        self.due = inf  # may be assigned directly if it only moves later

    def set(self, due: float) -> None:
        """Call back at `due` (loop time) unless it is moved; `inf` is never."""
        self.due = due
        if due < self._scheduled_for:
            self.stop()
            self._scheduled_for = due
            self._handle = self._loop.call_at(due, self._fire)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        self._scheduled_for = inf

    def _fire(self) -> None:
        self._handle = None
        self._scheduled_for = inf
        if self._loop.time() >= self.due:
            self._on_deadline()
        else:
            self.set(self.due)
