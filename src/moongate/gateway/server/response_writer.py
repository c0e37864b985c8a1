"""The interface for responses: synchronous writes, back-pressure, and a callback when the client leaves.

Our own server protocol implements it directly (`scope["extensions"]["moongate.stream"]`); under any other ASGI server
`AsgiResponseWriter` implements it over `send`, with a bounded queue.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, Protocol

from moongate.aio.tasks import Cancellable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
HeaderList = list[tuple[bytes, bytes]]

EXTENSION: Final = "moongate.stream"
MAX_COPY: Final = 64 * 1024  # bytes of a response that the log may show
HIGH_WATER: Final = 64 * 1024  # bytes in the queue above which the upstream is paused


class ResponseWriter(Protocol):
    """One response. `start` once, then `write` until `finish` or `drop`."""

    @property
    def task(self) -> Cancellable | None:
        """The task that handles the request, if it is known; asking asyncio for it costs a system call."""
        ...

    @property
    def peer(self) -> str:
        """The address of the client's connection; "" if it has none."""
        ...

    @property
    def paused(self) -> bool:
        """The client reads slowly: write no more than what is already on its way."""
        ...

    def start(self, status: int, headers: HeaderList, data: bytes = b"") -> None:
        """Begin the response; `data` is the first part of its body, if there is one yet."""
        ...

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        """Write a whole response; its Content-Length is added."""
        ...

    def write(self, data: bytes) -> None: ...

    def chunk_writer(self) -> Callable[[bytes], None] | None:
        """Writes bytes that are framed as HTTP chunks already. None: this response is not sent in that way."""
        ...

    def unread_bytes(self) -> int:
        """Bytes that were written and that the client has not taken yet."""
        ...

    def finish(self) -> None: ...

    def drop(self) -> None:
        """Close the connection without an end of the body, as if the client had left."""
        ...

    def on_drain(self, paused: Callable[[], None], drained: Callable[[], None]) -> None:
        """Call `paused` when the client falls behind, `drained` when it has caught up."""
        ...

    def on_disconnect(self, callback: Callable[[], None]) -> None: ...

    def on_half_close(self, callback: Callable[[], None]) -> None:
        """Call `callback` if the client stops sending, but may still wait for the answer."""
        ...


class AsgiResponseWriter:
    """A ResponseWriter over plain ASGI. `pump` must run beside the handler; it ends after `finish` or `drop`."""

    task: Cancellable | None = None

    def __init__(self, receive: Receive, send: Send, *, bodiless: bool = False, peer: str = "") -> None:
        self.peer = peer
        self._bodiless = bodiless  # the response to HEAD
        self._receive = receive
        self._send = send
        self._queue: deque[Message] = deque()
        self._queued_bytes = 0
        self._wake_up = asyncio.Event()
        self._done = False
        self._on_pause: Callable[[], None] | None = None
        self._on_drain: Callable[[], None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._on_left: Callable[[], None] | None = None
        self.paused = False

    def start(self, status: int, headers: HeaderList, data: bytes = b"") -> None:
        self._enqueue({"type": "http.response.start", "status": status, "headers": headers})
        if data:
            self.write(data)

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        self.start(status, [*headers, (b"content-length", b"%d" % len(data))])
        if not self._bodiless:
            self.write(data)
        self.finish()

    def write(self, data: bytes) -> None:
        self._queued_bytes += len(data)
        self._enqueue({"type": "http.response.body", "body": data, "more_body": True})
        if self._queued_bytes > HIGH_WATER and not self.paused:
            self.paused = True
            if self._on_pause is not None:
                self._on_pause()

    def chunk_writer(self) -> None:
        return None

    def unread_bytes(self) -> int:
        return self._queued_bytes

    def finish(self) -> None:
        self._enqueue({"type": "http.response.body", "body": b"", "more_body": False})
        self._done = True

    def drop(self) -> None:
        self._queue.clear()
        self._done = True
        self._wake_up.set()
        if self._on_left is not None:
            self._on_left()

    def on_drain(self, paused: Callable[[], None], drained: Callable[[], None]) -> None:
        self._on_pause, self._on_drain = paused, drained

    def on_disconnect(self, callback: Callable[[], None]) -> None:
        """Only after the request's body was read: the next message is then the disconnection."""
        self._on_left = callback
        self._watcher = asyncio.create_task(self._watch(callback))

    def close(self) -> None:
        """Nothing more will be written: end `pump` and stop watching for the disconnection."""
        self._done = True
        self._wake_up.set()
        if self._watcher is not None:
            self._watcher.cancel()

    async def pump(self) -> None:
        """Pass on what is written, in order."""
        while True:
            while self._queue:
                message = self._queue.popleft()
                await self._send(message)
                self._queued_bytes -= len(message.get("body", b""))
                if self.paused and self._queued_bytes <= HIGH_WATER // 2:
                    self.paused = False
                    if self._on_drain is not None:
                        self._on_drain()
            if self._done:
                return
            self._wake_up.clear()
            await self._wake_up.wait()

    def on_half_close(self, callback: Callable[[], None]) -> None:
        """Not known behind an ASGI server."""

    async def _watch(self, callback: Callable[[], None]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        callback()

    def _enqueue(self, message: Message) -> None:
        self._queue.append(message)
        self._wake_up.set()


class CopyingResponseWriter:
    """A ResponseWriter that also keeps the beginning of the body, for a log that shows bodies."""

    def __init__(self, writer: ResponseWriter, *, bodiless: bool = False) -> None:
        self._writer = writer
        self._bodiless = bodiless  # the response to HEAD
        self.task = writer.task
        self.peer = writer.peer
        self.copy = bytearray()
        self.finish = writer.finish
        self.unread_bytes = writer.unread_bytes
        self.drop = writer.drop
        self.on_drain = writer.on_drain
        self.on_disconnect = writer.on_disconnect
        self.on_half_close = writer.on_half_close

    @property
    def paused(self) -> bool:
        return self._writer.paused

    def start(self, status: int, headers: HeaderList, data: bytes = b"") -> None:
        self.copy += data[:MAX_COPY]
        self._writer.start(status, headers, data)

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        if not self._bodiless:
            self.copy += data[:MAX_COPY]
        self._writer.respond(status, headers, data)

    def write(self, data: bytes) -> None:
        self.copy += data[: max(0, MAX_COPY - len(self.copy))]
        self._writer.write(data)

    def chunk_writer(self) -> None:
        return None
