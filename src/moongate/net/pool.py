"""The connections to one origin: kept while they are fit, never more than a limit."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from moongate.errors import Overloaded
from moongate.net.connection import Connection
from moongate.net.dial import Origin, dial

IDLE_SECONDS: Final = 30.0
LAST_SECONDS: Final = 1.0  # for an idle connection on which something has come
WARY_SECONDS: Final = 600.0  # in which an origin that said more than it was asked gets a connection for each request


class Pool:
    """A slot is held from `take` to the end of the exchange; idle connections hold none.

    A connection is only opened when none is idle, so there are never more than `limit`.
    """

    def __init__(self, origin: Origin, limit: int) -> None:
        self._origin = origin
        self._slots = limit  # that are free
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._idle: deque[Connection] = deque()
        self._closed = False
        self._wary = 0.0  # until then nothing is reused

    def idle(self) -> Connection | None:
        """One that waits for a request, with a slot: the usual case, and there is nothing to await."""
        if self._slots:
            while self._idle:
                connection = self._idle.pop()
                if connection.is_fit():
                    self._slots -= 1
                    return connection
                _dismiss(connection)
        return None

    async def take(self, seconds: float, *, fresh: bool = False) -> Connection:
        """A connection to send on, a `fresh` one if asked, within `seconds`."""
        if self._slots:
            self._slots -= 1
        else:
            await self._wait(seconds)
        while self._idle and not fresh:
            connection = self._idle.pop()
            if connection.is_fit():
                return connection
            _dismiss(connection)
        try:
            return await dial(self._origin, self._make, seconds)
        except BaseException:
            self._give_back()
            raise

    async def _wait(self, seconds: float) -> None:
        """For a slot: whoever frees one hands it to the first who waits."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except BaseException as error:
            if waiter.done() and not waiter.cancelled():
                self._give_back()  # it came too late
            if isinstance(error, TimeoutError):
                raise Overloaded("every connection to the provider is busy", code="pool_full") from None
            raise

    def _give_back(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._slots += 1

    def close(self) -> None:
        """Close what is idle; what is busy closes at the end of its exchange."""
        self._closed = True
        while self._idle:
            self._idle.pop().end(None)

    def _make(self) -> Connection:
        return Connection(self._free, self._suspect)

    def _suspect(self) -> None:
        """HTTP/1.1 does not number its answers: an unasked one that comes later still is that to the next request."""
        self._wary = asyncio.get_running_loop().time() + WARY_SECONDS
        while self._idle:
            self._idle.pop().end(None)

    def _free(self, connection: Connection, reusable: bool) -> None:
        self._give_back()
        if self._closed or (self._wary > 0 and connection.loop.time() < self._wary):
            connection.end(None)
        elif reusable:
            connection.rest(IDLE_SECONDS)
            self._idle.append(connection)
            while not self._idle[0].is_open():  # the oldest rest at this end and expire first
                self._idle.popleft()


def _dismiss(connection: Connection) -> None:
    """Let it read what has come, be it the end or something unasked, and close."""
    if connection.is_open():
        connection.rest(LAST_SECONDS)
