"""The connections to one origin: kept while they are fit, never more than a limit."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import nullcontext
from typing import Final

from moongate.errors import Overloaded
from moongate.net.connection import Connection
from moongate.net.dial import Origin, dial

IDLE_SECONDS: Final = 30.0


class Pool:
    """A slot is held from `take` to the end of the exchange; idle connections hold none.

    A connection is only opened when none is idle, so there are never more than `limit`.
    """

    def __init__(self, origin: Origin, limit: int) -> None:
        self._origin = origin
        self._slots = asyncio.Semaphore(limit)
        self._idle: deque[Connection] = deque()
        self._closed = False

    async def take(self, seconds: float, *, fresh: bool = False) -> Connection:
        """A connection to send on, a `fresh` one if asked, within `seconds`."""
        try:
            # Mostly there is a slot, and a timeout would cost more than the whole of this.
            async with asyncio.timeout(seconds) if self._slots.locked() else nullcontext():
                await self._slots.acquire()
        except TimeoutError:
            raise Overloaded("every connection to the provider is busy", code="pool_full") from None
        while self._idle and not fresh:
            connection = self._idle.pop()
            if connection.is_fit():
                return connection
            connection.end(None)
        try:
            return await dial(self._origin, self._make, seconds)
        except BaseException:
            self._slots.release()
            raise

    def close(self) -> None:
        """Close what is idle; what is busy closes at the end of its exchange."""
        self._closed = True
        while self._idle:
            self._idle.pop().end(None)

    def _make(self) -> Connection:
        return Connection(self._free)

    def _free(self, connection: Connection, reusable: bool) -> None:
        self._slots.release()
        if self._closed:
            connection.end(None)
        elif reusable:
            connection.rest(IDLE_SECONDS)
            self._idle.append(connection)
            while not self._idle[0].is_open():  # the oldest rest at this end and expire first
                self._idle.popleft()
