"""One request on one connection, and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from moongate.errors import BadUpstream
from moongate.net.contract import Sink
from moongate.net.deadlines import Deadlines
from moongate.net.errand import Waiter
from moongate.net.lane import Lane

if TYPE_CHECKING:
    from moongate.net.connection import Connection

HELD: Final = 64 * 1024  # body bytes kept until somebody reads; then the socket is paused
NO_HEADERS: Final[Mapping[bytes, bytes]] = MappingProxyType({})
GRACE: Final = 0.25  # seconds a released answer has to end


class Exchange:
    """One request on one connection. Implements `contract.Response`."""

    __slots__ = (
        *("_connection", "_error", "_held", "_over", "_sink", "_waiter"),
        *("deadlines", "headers", "lane", "status", "whole"),
    )

    def __init__(self, connection: Connection, deadlines: Deadlines) -> None:
        self.deadlines = deadlines
        self.whole = connection.loop.time() + deadlines.whole
        self.status = 0
        self.headers: Mapping[bytes, bytes] = NO_HEADERS
        self.lane: Lane | None = None
        self._connection = connection
        self._sink: Sink | None = None
        self._held = b""
        self._waiter: Waiter | None = None  # for the head, then for the end
        self._error: Exception | None = None
        self._over = False  # nothing more will come

    def at_once(self, limit: int) -> bytes | None:
        if not self._over or self._error is not None or len(self._held) > limit or self._is_coded():
            return None
        held, self._held = self._held, b""
        return held

    async def read(self, limit: int, ended: Callable[[bytes], bool] | None = None) -> bytes:
        pieces: list[bytes] = []
        left = limit

        def collect(data: bytes) -> None:
            nonlocal left
            left -= len(data)
            if left < 0:
                raise BadUpstream(f"the provider's answer is larger than {limit} bytes", code="too_large")
            pieces.append(data)
            if ended is not None and ended(data):
                self.release()

        await self.pipe(collect)
        return b"".join(pieces) if len(pieces) != 1 else pieces[0]

    def pipe(self, sink: Sink) -> Awaitable[None]:
        try:
            if self._is_coded():
                raise BadUpstream("the provider compressed its answer unasked", code="compressed")
            self._sink = sink
            if self._held:
                held, self._held = self._held, b""
                sink(held)
            if self._sink is sink:  # it did not release the answer
                self.resume()
        except BaseException:
            self.close()
            raise
        return self._rest(sink)

    async def _rest(self, sink: Sink) -> None:
        if self._sink is not sink:
            return
        try:
            await self.news()
            self.check()
        except BaseException:
            self.close()
            raise

    def _is_coded(self) -> bool:
        return self.headers.get(b"content-encoding", b"identity").lower() != b"identity"

    def news(self) -> Waiter:
        """To be awaited: news of the head, then of the end. `check` next."""
        self._waiter = waiter = Waiter(self._connection.loop)
        if self._over:
            waiter.wake()
        return waiter

    def check(self) -> None:
        """Raises what went wrong."""
        if self._error is not None:
            raise self._error

    def express(self, lane: Lane | None) -> None:
        self.lane = lane

    def pause(self) -> None:
        self._connection.pause(self)

    def resume(self) -> None:
        self._connection.resume(self)

    def release(self) -> None:
        if not self._over:
            self._sink, self.lane = _refuse, None
            self.resume()
            self._connection.rest(GRACE)
            # Not at once: whoever releases is in the midst of reading.
            self._connection.loop.call_soon(self.wake)

    def close(self) -> None:
        if not self._over:
            self._connection.end(None)

    # The connection calls what follows.

    def begin(self, status: int, headers: Mapping[bytes, bytes]) -> None:
        self.status = status
        self.headers = headers

    def feed(self, data: bytes) -> None:
        if self._sink is not None:
            self._sink(data)
        else:
            self._held += data
            if len(self._held) > HELD:
                self.pause()

    def end(self, error: Exception | None) -> None:
        self._over = True
        if self._sink is not _refuse:
            self._error = error

    def wake(self) -> None:
        """Whoever waits goes on at once: the last thing that a callback does."""
        if self._waiter is not None:
            self._waiter.wake()


def _refuse(_: bytes) -> None:
    raise BadUpstream("the provider sent more than was wanted")
