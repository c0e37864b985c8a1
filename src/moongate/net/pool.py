"""The connections to one origin: kept while they are reusable, never more than a limit."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final

from moongate.errors import Overloaded
from moongate.net.connection import Connection
from moongate.net.dial import Origin, dial

IDLE_SECONDS: Final = 30.0
DISCARD_SECONDS: Final = 1.0  # to read what arrived on an idle connection before it is closed
NO_REUSE_SECONDS: Final = 600.0  # without reuse, after an origin sent bytes that belong to no request


class Pool:
    """A slot is held from `take` to the end of the exchange; idle connections hold none.

    A connection is only opened when none is idle, so there are never more than `limit`.
    """

    def __init__(
        self,
        origin: Origin,
        limit: int,
        *,
        idle_seconds: float = IDLE_SECONDS,
        no_reuse_seconds: float = NO_REUSE_SECONDS,
    ) -> None:
        self._origin = origin
        self._idle_seconds = idle_seconds
        self._no_reuse_seconds = no_reuse_seconds
        self._slots = limit  # free ones
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._idle: deque[Connection] = deque()
        self._closed = False
        self._no_reuse_until = 0.0

    def idle(self) -> Connection | None:
        """An idle connection, with a slot: the usual case, without anything to await."""
        if self._slots:
            while self._idle:
                connection = self._idle.pop()
                if connection.is_reusable():
                    self._slots -= 1
                    return connection
                _discard(connection)
        return None

    async def take(self, seconds: float, *, fresh: bool = False) -> Connection:
        """A connection, a newly opened one if `fresh`, within `seconds`."""
        if self._slots:
            self._slots -= 1
        else:
            await self._wait(seconds)
        while self._idle and not fresh:
            connection = self._idle.pop()
            if connection.is_reusable():
                return connection
            _discard(connection)
        try:
            return await dial(self._origin, self._make, seconds)
        except BaseException:
            self._release_slot()
            raise

    async def _wait(self, seconds: float) -> None:
        """Wait for a slot: whoever releases one passes it to the first in the queue."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except BaseException as error:
            if waiter.done() and not waiter.cancelled():
                self._release_slot()  # it came too late
            if isinstance(error, TimeoutError):
                raise Overloaded("every connection to the provider is busy", code="pool_full") from None
            raise

    def _release_slot(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._slots += 1

    def close(self) -> None:
        """Close idle connections; busy ones close at the end of their exchange."""
        self._closed = True
        while self._idle:
            with suppress(RuntimeError):  # the event loop has ended before
                self._idle.pop().end(None)

    def _make(self) -> Connection:
        return Connection(self._on_free, self._on_surplus)

    def _on_surplus(self) -> None:
        """Stop reuse: HTTP/1.1 does not number its answers, so a surplus one would be taken for the next request's."""
        self._no_reuse_until = asyncio.get_running_loop().time() + self._no_reuse_seconds
        while self._idle:
            self._idle.pop().end(None)

    def _on_free(self, connection: Connection, reusable: bool) -> None:
        self._release_slot()
        if self._closed or (self._no_reuse_until > 0 and connection.loop.time() < self._no_reuse_until):
            connection.end(None)
        elif reusable:
            connection.close_after(self._idle_seconds)
            self._idle.append(connection)
            while (oldest := self._idle[0]) is not connection and not oldest.is_open():  # those expire first
                self._idle.popleft()


def _discard(connection: Connection) -> None:
    """Let it read what has arrived, be it EOF or surplus bytes, and close."""
    if connection.is_open():
        connection.close_after(DISCARD_SECONDS)
