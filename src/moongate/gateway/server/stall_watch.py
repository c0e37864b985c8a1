"""Measures how long the event loop is blocked by one piece of work, and finds the request that does it.

A timer of the loop is late by as long as the loop was blocked. When it is very late, a thread looks which request the
loop works on: afterwards nobody could tell. Requests themselves cost nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol, runtime_checkable

HEARTBEAT_SECONDS: Final = 0.025  # between two heartbeats of the loop: a stall is measured to within this
LOOK_SECONDS: Final = 0.1  # between two looks of the thread
WARN_SECONDS: Final = 0.25  # a longer stall is reported with the request that caused it


@runtime_checkable
class StallReporter(Protocol):
    """Who knows the requests, and takes note of stalls."""

    def running_requests(self, task: object) -> Sequence[str]:
        """The ids of the requests that are worked on now; `task` is the loop's current task. Called in a thread."""

    def record_stall(self, seconds: float, requests: Sequence[str]) -> None:
        """The loop was blocked for so long, by one of these requests; they are only known of a long stall."""


class StallWatch:
    """Watches the running loop from `start` to `stop`. `on_heartbeat` is called by the loop at every heartbeat."""

    def __init__(
        self, reporter: StallReporter | None, on_heartbeat: Callable[[], None], *, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._reporter = reporter
        self._on_heartbeat = on_heartbeat
        self._look_seconds = look_seconds
        self._due = 0.0  # when the next heartbeat should come
        self._suspects: Sequence[str] = ()
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = threading.Event()

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._due = time.monotonic()
        self._heartbeat()
        if self._reporter is not None:
            threading.Thread(target=self._look, args=(self._reporter,), name="stall-watch", daemon=True).start()

    def stop(self) -> None:
        """The thread ends soon after."""
        self._stopped.set()
        if self._timer is not None:
            self._timer.cancel()

    def _heartbeat(self) -> None:
        late = time.monotonic() - self._due
        if late > HEARTBEAT_SECONDS and self._reporter is not None:
            suspects, self._suspects = self._suspects, ()
            self._reporter.record_stall(late, suspects)
        self._on_heartbeat()
        self._due = time.monotonic() + HEARTBEAT_SECONDS
        self._timer = self._loop.call_later(HEARTBEAT_SECONDS, self._heartbeat)

    def _look(self, reporter: StallReporter) -> None:
        while not self._stopped.wait(self._look_seconds):
            if time.monotonic() - self._due > self._look_seconds and not self._suspects:
                self._suspects = reporter.running_requests(asyncio.current_task(self._loop))
