"""The way back to the client: synchronous writes, back-pressure, and word when the client leaves.

Our own server protocol offers this directly (`scope["extensions"]["moongate.stream"]`); under any other ASGI server
`AsgiOutlet` gives the same over `send`, with a bounded queue.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, Protocol

from moongate.net.errand import Cancellable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
HeaderList = list[tuple[bytes, bytes]]

EXTENSION: Final = "moongate.stream"
MAX_COPY: Final = 64 * 1024  # bytes of an answer that a log may show
HIGH_WATER: Final = 64 * 1024  # bytes waiting in the queue from which the upstream is paused


class Outlet(Protocol):
    """One response. `start` once, then `write` until `finish` or `drop`."""

    @property
    def task(self) -> Cancellable | None:
        """What answers, if it is known: to ask asyncio for it is a system call."""
        ...

    @property
    def paused(self) -> bool:
        """The client reads slowly: write no more than what is already on its way."""
        ...

    def start(self, status: int, headers: HeaderList, data: bytes = b"") -> None:
        """Begin the answer; `data` is the first of its body, if it is there."""
        ...

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        """The whole answer; its Content-Length is added."""
        ...

    def write(self, data: bytes) -> None: ...

    def forwarder(self) -> Callable[[bytes], None] | None:
        """Writes what is framed as HTTP chunks already. None: not while this answer is sent in another way."""
        ...

    def finish(self) -> None: ...

    def drop(self) -> None:
        """Close the connection without an end of the body: for us the client has left."""
        ...

    def on_drain(self, paused: Callable[[], None], drained: Callable[[], None]) -> None:
        """Call `paused` when the client falls behind, `drained` when it has caught up."""
        ...

    def on_disconnect(self, callback: Callable[[], None]) -> None: ...


class AsgiOutlet:
    """An Outlet over plain ASGI. `pump` must run beside whoever writes; it ends after `finish` or `drop`."""

    task: Cancellable | None = None

    def __init__(self, receive: Receive, send: Send, *, bodiless: bool = False) -> None:
        self._bodiless = bodiless  # the answer to HEAD
        self._receive = receive
        self._send = send
        self._queue: deque[Message] = deque()
        self._waiting = 0
        self._wake = asyncio.Event()
        self._over = False
        self._pause: Callable[[], None] | None = None
        self._drained: Callable[[], None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._left: Callable[[], None] | None = None
        self.paused = False

    def start(self, status: int, headers: HeaderList, data: bytes = b"") -> None:
        self._put({"type": "http.response.start", "status": status, "headers": headers})
        if data:
            self.write(data)

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        self.start(status, [*headers, (b"content-length", b"%d" % len(data))])
        if not self._bodiless:
            self.write(data)
        self.finish()

    def write(self, data: bytes) -> None:
        self._waiting += len(data)
        self._put({"type": "http.response.body", "body": data, "more_body": True})
        if self._waiting > HIGH_WATER and not self.paused:
            self.paused = True
            if self._pause is not None:
                self._pause()

    def forwarder(self) -> None:
        return None

    def finish(self) -> None:
        self._put({"type": "http.response.body", "body": b"", "more_body": False})
        self._over = True

    def drop(self) -> None:
        self._queue.clear()
        self._over = True
        self._wake.set()
        if self._left is not None:
            self._left()

    def on_drain(self, paused: Callable[[], None], drained: Callable[[], None]) -> None:
        self._pause, self._drained = paused, drained

    def on_disconnect(self, callback: Callable[[], None]) -> None:
        """The request's body must have been read."""
        self._left = callback
        self._watcher = asyncio.create_task(self._watch(callback))

    def close(self) -> None:
        """Nothing more will be written (the client may have left before the end): `pump` ends, nobody watches."""
        self._over = True
        self._wake.set()
        if self._watcher is not None:
            self._watcher.cancel()

    async def pump(self) -> None:
        """Send what is written, in order."""
        while True:
            while self._queue:
                message = self._queue.popleft()
                await self._send(message)
                self._waiting -= len(message.get("body", b""))
                if self.paused and self._waiting <= HIGH_WATER // 2:
                    self.paused = False
                    if self._drained is not None:
                        self._drained()
            if self._over:
                return
            self._wake.clear()
            await self._wake.wait()

    async def _watch(self, callback: Callable[[], None]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        callback()

    def _put(self, message: Message) -> None:
        self._queue.append(message)
        self._wake.set()


class Copying:
    """An Outlet that also keeps the beginning of what is written, for a log that was told to show answers."""

    def __init__(self, outlet: Outlet, *, bodiless: bool = False) -> None:
        self._outlet = outlet
        self._bodiless = bodiless  # the answer to HEAD
        self.task = outlet.task
        self.copy = bytearray()
        self.finish = outlet.finish
        self.drop = outlet.drop
        self.on_drain = outlet.on_drain
        self.on_disconnect = outlet.on_disconnect

    @property
    def paused(self) -> bool:
        return self._outlet.paused

    def start(self, status: int, headers: HeaderList, data: bytes = b"") -> None:
        self.copy += data[:MAX_COPY]
        self._outlet.start(status, headers, data)

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        if not self._bodiless:
            self.copy += data[:MAX_COPY]
        self._outlet.respond(status, headers, data)

    def write(self, data: bytes) -> None:
        self.copy += data[: max(0, MAX_COPY - len(self.copy))]
        self._outlet.write(data)

    def forwarder(self) -> None:
        return None
