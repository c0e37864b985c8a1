"""The stand-ins for `eager_task`, over the public parts of asyncio alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any


class LoopFuture:
    """A future that `wake` completes. Whoever waits continues in a later iteration of the loop."""

    __slots__ = ("_future",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._future: asyncio.Future[None] = loop.create_future()

    def wake(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    def __await__(self) -> Generator[Any, None, None]:
        return self._future.__await__()


class LoopTask:
    """An `asyncio.Task` that is created by `start`."""

    __slots__ = ("__weakref__", "_coroutine", "_loop", "_on_done", "_task")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, None],
        on_done: Callable[[BaseException | None], None],
    ) -> None:
        self._loop = loop
        self._coroutine = coroutine
        self._on_done = on_done
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = self._loop.create_task(self._coroutine)
        self._task.add_done_callback(self._done)

    def cancel(self) -> bool:
        return self._task is not None and self._task.cancel()

    def uncancel(self) -> int:
        return 0 if self._task is None else self._task.uncancel()

    def is_task(self, task: object) -> bool:
        """Is it this one, as asyncio knows it?"""
        return task is not None and task is self._task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._on_done(asyncio.CancelledError() if task.cancelled() else task.exception())
