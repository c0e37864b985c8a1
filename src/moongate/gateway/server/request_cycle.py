"""One request and its response on a connection: ASGI's `receive` and `send`, and a `ResponseWriter`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from moongate.aio.tasks import Cancellable
from moongate.aio.waiters import Waiters
from moongate.gateway.server.read_progress import unread_bytes
from moongate.gateway.server.response_head import CONTINUE, encode_head
from moongate.gateway.server.response_writer import Message

if TYPE_CHECKING:
    from moongate.gateway.server.protocol import ClientProtocol

Headers = Iterable[tuple[bytes, bytes]]
MAX_JOINED: Final = 16 * 1024  # bytes of a chunk that is joined with its framing; a larger one is not copied
HIGH_WATER: Final = 256 * 1024  # bytes of a request's body that wait for the application before reading pauses


class RequestResponseCycle:
    """The connection's protocol feeds it the request; the application reads that and writes the response."""

    __slots__ = (
        *("_bodiless", "_body", "_body_size", "_chunked", "_delivered", "_has_length", "_on_disconnect", "_on_drain"),
        *("_on_half_close", "_on_pause", "_pending_head", "_remaining", "_waiters", "complete", "disconnected", "done"),
        *("expects_continue", "keep_alive", "paused", "peer", "persistent", "protocol", "started", "task"),
    )

    def __init__(self, protocol: ClientProtocol, *, head_only: bool, persistent: bool) -> None:
        self.protocol = protocol
        self.peer = protocol.peer  # the address of the client
        self.persistent = persistent  # HTTP/1.1: the client understands chunked bodies
        self.task: Cancellable | None = None  # runs the application
        self.keep_alive = True
        self.expects_continue = False
        self.complete = False  # the request's body has arrived in full
        self.started = False  # the response has begun
        self.paused = False  # the client does not read fast enough
        self.done = False  # the response is complete, or never will be
        self.disconnected = False  # the client left
        self._body: list[bytes] = []
        self._body_size = 0  # bytes in it
        self._delivered = False  # the application has seen the end of the request's body
        self._bodiless = head_only
        self._chunked = False
        self._has_length = False  # the response has a Content-Length
        self._remaining = 0  # bytes of it that were not written yet
        self._pending_head = b""  # the response's head, until it is written with the first bytes of the body
        self._waiters = Waiters(protocol.loop)  # `receive` and `send` may wait at the same time
        self._on_pause: Callable[[], None] | None = None
        self._on_drain: Callable[[], None] | None = None
        self._on_disconnect: Callable[[], None] | None = None
        self._on_half_close: Callable[[], None] | None = None

    # ASGI.

    async def receive(self) -> Message:
        if self.expects_continue and not (self.started or self.done):
            self.expects_continue = False
            self.protocol.transport.write(CONTINUE)
        while not self.done:
            if self._body or (self.complete and not self._delivered):
                return self._take()
            await self._waiters.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        while self.paused and not self.done:
            await self._waiters.wait()
        if message["type"] == "http.response.start":
            self.start(message["status"], message.get("headers", ()))
        else:
            if body := message.get("body"):
                self.write(bytes(memoryview(body)) if not isinstance(body, bytes) else body)
            if not message.get("more_body", False):
                self.finish()

    def _take(self) -> Message:
        body = self._body
        data = body[0] if len(body) == 1 else b"".join(body)
        body.clear()
        self._body_size = 0
        self._delivered = self.complete
        self.protocol.resume_reading()
        return {"type": "http.request", "body": data, "more_body": not self.complete}

    # ResponseWriter.

    def start(self, status: int, headers: Headers, data: bytes = b"") -> None:
        """Begin the response, with the first part of its body, if there is one; without a Content-Length, chunked."""
        if self.done:
            return
        headers, framing = tuple(headers), b""
        for name, value in headers:
            if name == b"content-length":
                self._has_length = True
                self._remaining = int(value)
        if status in (204, 304):
            self._bodiless = True
        elif not self._has_length and self.persistent:
            self._chunked = True
            framing = b"transfer-encoding: chunked\r\n"
        self._pending_head = self._encode_head(status, headers, framing)
        if data:
            self.write(data)
        else:  # the first bytes of the body may follow in this iteration of the loop: one write is cheaper than two
            self.protocol.loop.call_soon(self._flush)

    def respond(self, status: int, headers: Headers, data: bytes) -> None:
        """Write a whole response at once; its Content-Length is added."""
        if self.done:
            return
        head = self._encode_head(status, headers, b"content-length: %d\r\n" % len(data))
        self.protocol.transport.write(head if self._bodiless else head + data)
        self._finish()
        self.protocol.response_complete(self)

    def _encode_head(self, status: int, headers: Headers, framing: bytes) -> bytes:
        """The head of the response; `framing` is a line of it, or empty."""
        if self.started:
            raise RuntimeError("the answer has begun already")
        self.started = True
        if not self.complete:
            self.keep_alive = False  # the rest of the request will not be read
        head = encode_head(status, self.protocol.date(), framing, headers, close=not self.keep_alive)
        if head is None:
            self.abort()
            raise RuntimeError("a header of the answer holds a line break")
        return head

    def _flush(self) -> None:
        if self._pending_head and not self.done:
            self._write_raw(b"")

    def _write_raw(self, data: bytes) -> None:
        if self._pending_head:
            data, self._pending_head = self._pending_head + data, b""
        self.protocol.transport.write(data)

    def write(self, data: bytes) -> None:
        """More of the body."""
        if self.done or self._bodiless or not data:
            return
        if self._chunked and len(data) > MAX_JOINED:
            opening, self._pending_head = b"%b%x\r\n" % (self._pending_head, len(data)), b""
            self.protocol.transport.writelines((opening, data, b"\r\n"))
        elif self._chunked:
            self._write_raw(b"%x\r\n%b\r\n" % (len(data), data))
        elif not self.started:
            raise RuntimeError("the answer has not begun")
        else:
            self._remaining -= len(data)
            if self._has_length and self._remaining < 0:
                self.abort()
                raise RuntimeError("the answer is longer than its Content-Length")
            self._write_raw(data)

    def chunk_writer(self) -> Callable[[bytes], None] | None:
        """Writes bytes that are framed as HTTP chunks already. A closed transport drops them or raises."""
        return self.protocol.transport.write if self._chunked and not (self._pending_head or self.done) else None

    def unread_bytes(self) -> int:
        return unread_bytes(self.protocol.transport)

    def finish(self) -> None:
        """The response is complete."""
        if self.done:
            return
        if self._has_length and self._remaining and not self._bodiless:
            self.abort()  # the client must not take it for complete
            raise RuntimeError("the answer is shorter than its Content-Length")
        if self._chunked and not self._bodiless:
            self._write_raw(b"0\r\n\r\n")
        else:
            self._flush()
        self._finish()
        self.protocol.response_complete(self)

    def abort(self) -> None:
        """Close the connection without an end of the response."""
        if not self.done:
            self._finish()
            self.protocol.abort()

    def drop(self) -> None:
        """Close the connection; the `on_disconnect` callback is called, as if the client had left."""
        self.protocol.abort()

    def on_drain(self, paused: Callable[[], None], drained: Callable[[], None]) -> None:
        """Call `paused` when the client falls behind, `drained` when it has caught up."""
        self._on_pause, self._on_drain = paused, drained

    def on_disconnect(self, callback: Callable[[], None]) -> None:
        """Call `callback` once if the client leaves before the response is complete."""
        self._on_disconnect = callback
        if self.disconnected:
            self.protocol.loop.call_soon(callback)

    def on_half_close(self, callback: Callable[[], None]) -> None:
        """Call `callback` if the client stops sending: what it writes shows whether the client has left."""
        self._on_half_close = callback

    # The protocol calls what follows.

    def half_close(self) -> None:
        self.keep_alive = False
        if self._on_half_close is not None:
            self._on_half_close()

    def task_done(self, error: BaseException | None) -> None:
        """The application has returned, or raised `error`."""
        task, self.task = self.task, None
        self.protocol.task_done(self, task, error)

    def feed(self, data: bytes, *, last: bool) -> bool:
        """More of the request's body. False: pause reading."""
        self.complete = last
        if data and not self.done:
            self._body.append(data)
            self._body_size += len(data)
        self._waiters.wake()
        return self._body_size <= HIGH_WATER

    def pause(self) -> None:
        self.paused = True
        if self._on_pause is not None:
            self._on_pause()

    def resume(self) -> None:
        self.paused = False
        self._waiters.wake()
        if self._on_drain is not None:
            self._on_drain()

    def disconnect(self) -> None:
        """The client has left, or the connection must be closed."""
        if not self.done:
            self.disconnected, callback = True, self._on_disconnect
            self._finish()
            if callback is not None:
                callback()

    def _finish(self) -> None:  # the callbacks may refer back to this object
        self.done = True
        self._body.clear()
        self._body_size = 0
        self._on_pause = self._on_drain = self._on_disconnect = self._on_half_close = None
        self._waiters.wake()
