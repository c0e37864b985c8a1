"""One request on one connection, and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from moongate.aio.tasks import TASKS, WakeableFuture
from moongate.errors import BadUpstream
from moongate.net.contract import Sink
from moongate.net.deadlines import Deadlines
from moongate.net.forward import ChunkForwarder

if TYPE_CHECKING:
    from moongate.net.connection import Connection

MAX_BUFFERED: Final = 64 * 1024  # bytes of a body that nobody reads yet; beyond, reading pauses
NO_HEADERS: Final[Mapping[bytes, bytes]] = MappingProxyType({})
RELEASE_SECONDS: Final = 0.25  # in which a released answer must end, or its connection is closed


class HttpExchange:
    """One request on one connection. Implements `contract.Response`."""

    __slots__ = (
        *("_buffer", "_connection", "_done", "_error", "_future", "_sink"),
        *("deadline", "deadlines", "forwarder", "headers", "sent_at", "status"),
    )

    def __init__(self, connection: Connection, deadlines: Deadlines) -> None:
        self.deadlines = deadlines
        self.sent_at = connection.loop.time()
        self.deadline = self.sent_at + deadlines.total
        self.status = 0
        self.headers: Mapping[bytes, bytes] = NO_HEADERS
        self.forwarder: ChunkForwarder | None = None
        self._connection = connection
        self._sink: Sink | None = None
        self._buffer = b""
        self._future: WakeableFuture | None = None  # for the head, then for the end of the body
        self._error: Exception | None = None
        self._done = False  # nothing more will come

    def at_once(self, limit: int) -> bytes | None:
        if not self._done or self._error is not None or len(self._buffer) > limit or self._is_encoded():
            return None
        data, self._buffer = self._buffer, b""
        return data

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
            if self._is_encoded():
                raise BadUpstream("the provider compressed its answer unasked", code="compressed")
            self._sink = sink
            if self._buffer:
                data, self._buffer = self._buffer, b""
                sink(data)
            if self._sink is sink:  # unless it has released the answer
                self.resume()
        except BaseException:
            self.close()
            raise
        return self._wait_for_end(sink)

    async def _wait_for_end(self, sink: Sink) -> None:
        if self._sink is not sink:
            return
        try:
            await self.wait()
            self.check()
        except BaseException:
            self.close()
            raise
        finally:
            self._sink = _reject_data  # else both would keep each other, if it belongs to whoever has this answer

    def _is_encoded(self) -> bool:
        return self.headers.get(b"content-encoding", b"identity").lower() != b"identity"

    def wait(self) -> WakeableFuture:
        """To be awaited: first for the head, later for the end of the body. `check` next."""
        self._future = future = TASKS.new_future(self._connection.loop)
        if self._done:
            future.wake()
        return future

    def check(self) -> None:
        """Raises what went wrong."""
        if self._error is not None:
            raise self._error

    def forward(self, forwarder: ChunkForwarder | None) -> None:
        self.forwarder = forwarder

    def pause(self) -> None:
        self._connection.pause(self)

    def resume(self) -> None:
        self._connection.resume(self)

    def release(self) -> None:
        if not self._done:
            self._sink, self.forwarder = _reject_data, None
            self.resume()
            self._connection.close_after(RELEASE_SECONDS)
            # Not at once: the caller is inside the read that delivered the last bytes.
            self._connection.loop.call_soon(self.wake)

    def close(self) -> None:
        if not self._done:
            self._connection.end(None)

    # The connection calls what follows.

    def begin(self, status: int, headers: Mapping[bytes, bytes]) -> None:
        self.status = status
        self.headers = headers

    def feed(self, data: bytes) -> None:
        if self._sink is not None:
            self._sink(data)
        else:
            self._buffer += data
            if len(self._buffer) > MAX_BUFFERED:
                self.pause()

    def end(self, error: Exception | None) -> None:
        self._done = True
        if self._sink is not _reject_data:
            self._error = error

    def wake(self) -> None:
        """Continue whoever waits, perhaps at once: the last thing that a callback does."""
        if self._future is not None:
            self._future.wake()


def _reject_data(_: bytes) -> None:
    raise BadUpstream("the provider sent more than was wanted")
