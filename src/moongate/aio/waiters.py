"""Coroutines that wait until something has changed; each checks for itself what."""

from __future__ import annotations

import asyncio


class Waiters:
    """`await wait()` until somebody calls `wake`."""

    __slots__ = ("_futures", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._futures: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        future = self._loop.create_future()
        self._futures.append(future)
        await future

    def wake(self) -> None:
        while self._futures:
            future = self._futures.pop()
            if not future.done():
                future.set_result(None)
