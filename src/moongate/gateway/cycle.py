"""One request and its answer on a connection: plain ASGI, and the same without a task switch.

The object is what `scope["extensions"]["moongate.stream"]` holds: an `Outlet`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from moongate.gateway.protocol import Protocol

Message = MutableMapping[str, Any]
HeaderList = Iterable[tuple[bytes, bytes]]
HIGH_WATER: Final = 256 * 1024  # body bytes that wait for the application before the client is paused
STATUS_LINE: Final = {code: b"HTTP/1.1 %d \r\n" % code for code in range(200, 600)} | {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
DISCONNECT: Final = "http.disconnect"


class Cycle:
    """Driven by its protocol from one side and by the application from the other."""

    __slots__ = (
        "_bodiless",
        "_body",
        "_chunked",
        "_delivered",
        "_drained",
        "_left",
        "_on_leave",
        "_on_pause",
        "_protocol",
        "_size",
        "_sized",
        "_waiters",
        "complete",
        "expects_continue",
        "gone",
        "keep_alive",
        "over",
        "paused",
        "persistent",
        "started",
    )

    def __init__(self, protocol: Protocol, *, head_only: bool, persistent: bool, keep_alive: bool) -> None:
        self._protocol = protocol
        self._bodiless = head_only
        self.persistent = persistent  # HTTP/1.1: the client understands chunks
        self.keep_alive = keep_alive
        self.expects_continue = False
        # the request
        self._body: list[bytes] = []
        self._size = 0
        self._delivered = False  # the application has seen the end of the body
        self._waiters: list[asyncio.Future[None]] = []
        self.complete = False  # the body has come in full
        # the answer
        self._chunked = False
        self._sized = False  # there is a Content-Length
        self._left = 0  # bytes that it still promises
        self._on_pause: Callable[[], None] | None = None
        self._drained: Callable[[], None] | None = None
        self._on_leave: Callable[[], None] | None = None
        self.paused = False
        self.started = False
        self.over = False  # answered in full, or never will be
        self.gone = False  # the client left

    # ASGI

    async def receive(self) -> Message:
        if self.expects_continue and not (self.started or self.over):
            self.expects_continue = False
            self._protocol.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not (self.gone or self.over):
            if self._body or (self.complete and not self._delivered):
                return self._take()
            await self._wait()
        return {"type": DISCONNECT}

    async def send(self, message: Message) -> None:
        while self.paused and not self.gone:
            await self._wait()
        if self.gone:
            return
        if message["type"] == "http.response.start":
            self.start(message["status"], message.get("headers", ()))
        else:
            self.write(message.get("body", b""))
            if not message.get("more_body", False):
                self.finish()

    def _take(self) -> Message:
        body = self._body
        data = body[0] if len(body) == 1 else b"".join(body)
        body.clear()
        self._size = 0
        self._delivered = self.complete
        self._protocol.resume_reading()
        return {"type": "http.request", "body": data, "more_body": not self.complete}

    async def _wait(self) -> None:
        waiter = self._protocol.loop.create_future()
        self._waiters.append(waiter)  # receive and send may wait at the same time; each looks again when woken
        await waiter

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.pop()
            if not waiter.done():
                waiter.set_result(None)

    # the Outlet

    def start(self, status: int, headers: HeaderList) -> None:
        """Write the head. Without a Content-Length among the headers the body is sent in chunks."""
        if self.started:
            raise RuntimeError("the answer has begun already")
        if self.gone or self.over:
            return
        self.started = True
        if not self.complete:
            self.keep_alive = False  # the rest of the request will not be read
        lines = [STATUS_LINE[status], self._protocol.date()]
        for name, value in headers:
            if name == b"content-length":
                self._sized = True
                self._left = int(value)
            lines.append(b"%b: %b\r\n" % (name, value))
        if status < 200 or status in (204, 304):
            self._bodiless = True
        elif not self._sized and self.persistent:
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        head = b"".join(lines)
        if head.count(b"\n") > len(lines) or b"\0" in head:
            self.abort()
            raise RuntimeError("a header of the answer holds a line break")
        self._protocol.transport.write(head + b"\r\n")

    def write(self, data: bytes) -> None:
        if not self.started:
            raise RuntimeError("the answer has not begun")
        if self.gone or self.over or self._bodiless or not data:
            return
        if self._chunked:
            self._protocol.transport.write(b"%x\r\n%b\r\n" % (len(data), data))
        else:
            self._left -= len(data)
            if self._sized and self._left < 0:
                self.abort()
                raise RuntimeError("the answer is longer than its Content-Length")
            self._protocol.transport.write(data)

    def finish(self) -> None:
        """The answer is complete."""
        if self.gone or self.over:
            return
        if self._chunked and not self._bodiless:
            self._protocol.transport.write(b"0\r\n\r\n")
        elif self._sized and self._left and not self._bodiless:
            self.abort()  # the client must not take it for whole
            raise RuntimeError("the answer is shorter than its Content-Length")
        self._end()
        self._protocol.finished(self)

    def abort(self) -> None:
        """Close the connection without an end of the answer."""
        if not (self.gone or self.over):
            self._end()
            self._protocol.transport.abort()

    def on_drain(self, paused: Callable[[], None], drained: Callable[[], None]) -> None:
        """Call `paused` when the client falls behind, `drained` when it has caught up."""
        self._on_pause, self._drained = paused, drained

    def on_disconnect(self, callback: Callable[[], None]) -> None:
        """Call `callback` once if the client leaves before the answer is complete."""
        self._on_leave = callback
        if self.gone:
            self._protocol.loop.call_soon(callback)

    # the protocol calls what follows

    def feed(self, data: bytes, *, last: bool) -> bool:
        """More of the request's body. False: enough for now."""
        self.complete = last
        if data and not self.over:
            self._body.append(data)
            self._size += len(data)
        self._wake()
        return self._size <= HIGH_WATER

    def pause(self) -> None:
        self.paused = True
        if self._on_pause is not None:
            self._on_pause()

    def resume(self) -> None:
        self.paused = False
        self._wake()
        if self._drained is not None:
            self._drained()

    def leave(self) -> None:
        """The client is gone, or as good as gone."""
        if not (self.gone or self.over):
            self.gone = True
            told = self._on_leave
            self._end()
            if told is not None:
                told()

    def _end(self) -> None:
        self.over = True
        self._body.clear()
        self._size = 0
        self._on_pause = self._drained = self._on_leave = None  # they may refer back to us
        self._wake()
