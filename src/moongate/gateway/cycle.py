"""One request and its answer on a connection: plain ASGI, and the same without a task switch.

The object is what `scope["extensions"]["moongate.stream"]` holds: an `Outlet`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from moongate.net.errand import Cancellable

if TYPE_CHECKING:
    from moongate.gateway.protocol import Protocol

Message = MutableMapping[str, Any]
HeaderList = Iterable[tuple[bytes, bytes]]
HIGH_WATER: Final = 256 * 1024  # body bytes that wait for the application before the client is paused
STATUS_LINE: Final = {code: b"HTTP/1.1 %d \r\n" % code for code in range(200, 600)} | {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}


class Cycle:
    """Driven by its protocol from one side and by the application from the other."""

    __slots__ = (
        *("_body", "_bodiless", "_chunked", "_delivered", "_head", "_left", "_on_drain", "_on_leave", "_on_pause"),
        *("_persistent", "_protocol", "_size", "_sized", "_waiters", "complete", "expects_continue", "gone"),
        *("keep_alive", "over", "paused", "started", "task"),
    )

    def __init__(self, protocol: Protocol, *, head_only: bool, persistent: bool) -> None:
        self._protocol = protocol
        self._persistent = persistent  # HTTP/1.1: the client understands chunks
        self.task: Cancellable | None = None
        self.keep_alive = True
        self.expects_continue = False
        self.complete = False  # the request's body has come in full
        self.started = False  # the answer has begun
        self.paused = False  # the client does not read fast enough
        self.over = False  # answered in full, or never will be
        self.gone = False  # the client left
        self._body: list[bytes] = []
        self._size = 0  # bytes of it that wait
        self._delivered = False  # the application has seen the end of the request's body
        self._bodiless = head_only
        self._chunked = False
        self._sized = False  # there is a Content-Length
        self._left = 0  # bytes that it still promises
        self._head = b""  # of the answer, until it can be written with the first bytes of the body
        self._waiters: list[asyncio.Future[None]] = []
        self._on_pause: Callable[[], None] | None = None
        self._on_drain: Callable[[], None] | None = None
        self._on_leave: Callable[[], None] | None = None

    # ASGI

    async def receive(self) -> Message:
        if self.expects_continue and not (self.started or self.over):
            self.expects_continue = False
            self._protocol.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not self.over:
            if self._body or (self.complete and not self._delivered):
                return self._take()
            await self._wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        while self.paused and not self.over:
            await self._wait()
        if message["type"] == "http.response.start":
            self.start(message["status"], message.get("headers", ()))
        else:
            body = message.get("body")
            if body:
                self.write(body if isinstance(body, bytes) else bytes(memoryview(body)))
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

    def start(self, status: int, headers: HeaderList, data: bytes = b"") -> None:
        """Begin the answer, with the first of its body if it is there.

        Without a Content-Length among the headers the body is sent in chunks.
        """
        if self.over:
            return
        headers, framing = tuple(headers), b""
        for name, value in headers:
            if name == b"content-length":
                self._sized = True
                self._left = int(value)
        if status in (204, 304):
            self._bodiless = True
        elif not self._sized and self._persistent:
            self._chunked = True
            framing = b"transfer-encoding: chunked\r\n"
        self._head = self._opening(status, headers, framing)
        if data:
            self.write(data)
        else:  # the first bytes of the body may follow at once: one write is cheaper than two
            self._protocol.loop.call_soon(self._flush)

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        """The whole answer in one write; its Content-Length is added."""
        if self.over:
            return
        head = self._opening(status, headers, b"content-length: %d\r\n" % len(data))
        self._protocol.transport.write(head if self._bodiless else head + data)
        self._end()
        self._protocol.finished(self)

    def _opening(self, status: int, headers: HeaderList, framing: bytes) -> bytes:
        """The head of the answer; `framing` is a line of it, or nothing."""
        if self.started:
            raise RuntimeError("the answer has begun already")
        self.started = True
        parts = [STATUS_LINE[status], self._protocol.date(), framing]
        lines = 3 if framing else 2
        for name, value in headers:
            parts += (name, b": ", value, b"\r\n")
            lines += 1
        if not self.complete:
            self.keep_alive = False  # the rest of the request will not be read
        if not self.keep_alive:
            parts.append(b"connection: close\r\n")
            lines += 1
        parts.append(b"\r\n")
        head = b"".join(parts)
        if head.count(b"\n") > lines + 1 or 0 in head:
            self.abort()
            raise RuntimeError("a header of the answer holds a line break")
        return head

    def _flush(self) -> None:
        if self._head and not self.over:
            self._put(b"")

    def _put(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        self._protocol.transport.write(data)

    def write(self, data: bytes) -> None:
        """More of the body."""
        if self.over or self._bodiless or not data:
            return
        if self._chunked:
            self._put(b"%x\r\n%b\r\n" % (len(data), data))
        elif not self.started:
            raise RuntimeError("the answer has not begun")
        else:
            self._left -= len(data)
            if self._sized and self._left < 0:
                self.abort()
                raise RuntimeError("the answer is longer than its Content-Length")
            self._put(data)

    def forwarder(self) -> Callable[[bytes], None] | None:
        """Writes what is framed in chunks already, without a step in between. A closed transport drops it or raises."""
        return self._protocol.transport.write if self._chunked and not (self._head or self.over) else None

    def finish(self) -> None:
        """The answer is complete."""
        if self.over:
            return
        if self._sized and self._left and not self._bodiless:
            self.abort()  # the client must not take it for whole
            raise RuntimeError("the answer is shorter than its Content-Length")
        if self._chunked and not self._bodiless:
            self._put(b"0\r\n\r\n")
        else:
            self._flush()
        self._end()
        self._protocol.finished(self)

    def abort(self) -> None:
        """Close the connection without an end of the answer."""
        if not self.over:
            self._end()
            self._protocol.abort()

    def drop(self) -> None:
        """Close the connection; `on_disconnect` is told, as if the client had left."""
        self._protocol.abort()

    def on_drain(self, paused: Callable[[], None], drained: Callable[[], None]) -> None:
        """Call `paused` when the client falls behind, `drained` when it has caught up."""
        self._on_pause, self._on_drain = paused, drained

    def on_disconnect(self, callback: Callable[[], None]) -> None:
        """Call `callback` once if the client leaves before the answer is complete."""
        self._on_leave = callback
        if self.gone:
            self._protocol.loop.call_soon(callback)

    # the protocol calls what follows

    def ended(self, error: BaseException | None) -> None:
        """What answers has come to its end, with an error if it did not do so itself."""
        task, self.task = self.task, None
        self._protocol.answered(self, task, error)

    def feed(self, data: bytes, *, last: bool) -> bool:
        """More of the request's body. False: enough for now."""
        self.complete = last
        if data and not self.over:
            self._body.append(data)
            self._size += len(data)
        if self._waiters:
            self._wake()
        return self._size <= HIGH_WATER

    def pause(self) -> None:
        self.paused = True
        if self._on_pause is not None:
            self._on_pause()

    def resume(self) -> None:
        self.paused = False
        self._wake()
        if self._on_drain is not None:
            self._on_drain()

    def leave(self) -> None:
        """The client is gone, or as good as gone."""
        if not self.over:
            self.gone = True
            told = self._on_leave
            self._end()
            if told is not None:
                told()

    def _end(self) -> None:
        self.over = True
        self._body.clear()
        self._size = 0
        self._on_pause = self._on_drain = self._on_leave = None  # they may refer back to us
        self._wake()
