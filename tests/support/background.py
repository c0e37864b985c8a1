"""An event loop in a thread, so that blocking clients can talk to servers of the same process."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

import uvloop


class Stoppable(Protocol):
    async def stop(self) -> None: ...


T = TypeVar("T")
S = TypeVar("S", bound=Stoppable)
TIMEOUT = 60.0


class Background:
    """`run` a coroutine on the loop and wait for its result. A context manager."""

    def __init__(self, *, fast: bool = False) -> None:
        self.loop = uvloop.new_event_loop() if fast else asyncio.new_event_loop()
        self._servers: list[Stoppable] = []
        self._thread = threading.Thread(target=self.loop.run_forever, name="servers", daemon=True)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(TIMEOUT)

    def start(self, server: Coroutine[Any, Any, S]) -> S:
        """Start a server; it is stopped with the loop."""
        started = self.run(server)
        self._servers.append(started)
        return started

    def __enter__(self) -> Background:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        for server in reversed(self._servers):
            self.run(server.stop())
        self.run(_end_tasks())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(TIMEOUT)
        # uvloop never returns from `close` if its warning about an open socket is turned into an error.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            self.loop.close()


async def _end_tasks() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
