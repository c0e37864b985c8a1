"""The response of one fault, and the registry of all faults."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, Protocol

from tests.support.faulty_upstream.payloads import TEXT, event, js, stream_events

Headers = tuple[tuple[str, str], ...]


class Finished(Exception):
    """The fault has ended this connection."""


class TooMuch(Exception):
    """A limit of this program was reached."""


class FaultServer(Protocol):
    """What a fault needs from the server that runs it."""

    max_seconds: float
    max_bytes: int
    port: int
    counters: Counter[str]
    storms: Counter[str]


@dataclass(frozen=True, slots=True)
class FaultRequest:
    """What the faults use of the request."""

    path: str
    headers: Mapping[str, str]
    params: Mapping[str, str]
    model: str
    stream: bool
    last_user: str


class WatchedReader(asyncio.StreamReader):
    """A reader that is notified when the client closes the connection."""

    gone: asyncio.Event


@dataclass(slots=True)
class FaultResponse:
    """Writes the response to one request; a fault is a function of it."""

    server: FaultServer
    reader: WatchedReader
    writer: asyncio.StreamWriter
    request: FaultRequest
    keep: bool
    sent: int = 0
    model: str = field(init=False)

    def __post_init__(self) -> None:
        self.model = self.request.model or "faulty"

    def number(self, key: str, default: float) -> float:
        """A numeric option in the name of the fault, such as `~mb=8`."""
        try:
            return float(self.request.params.get(key, default))
        except ValueError:
            return default

    async def raw(self, data: bytes, pause: float = 0.0) -> None:
        self.sent += len(data)
        self.server.counters["bytes_out"] += len(data)
        if self.sent > self.server.max_bytes:
            raise TooMuch("response bytes")
        self.writer.write(data)
        await self.writer.drain()
        if pause:
            await self.sleep(pause)

    async def sleep(self, seconds: float) -> None:
        """Sleep; raises ConnectionResetError as soon as the client closes the connection."""
        try:
            await asyncio.wait_for(self.reader.gone.wait(), seconds)
        except TimeoutError:
            return
        raise ConnectionResetError("the client has disconnected")

    async def hang(self) -> None:
        """Send nothing until the client disconnects or the limit is reached."""
        await self.sleep(self.number("s", self.server.max_seconds))

    async def head(
        self,
        code: int = 200,
        reason: str = "OK",
        content_type: str | None = "application/json",
        extra: Headers = (),
        length: int | None = None,
    ) -> None:
        """Send the head; without a length the body is chunked."""
        lines = [f"HTTP/1.1 {code} {reason}", "Server: faulty-upstream"]
        lines += [f"x-request-id: up-{self.server.counters['requests']}"]
        lines += [f"Content-Type: {content_type}"] if content_type else []
        lines += ["Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"]
        lines += [f"{name}: {value}" for name, value in extra]
        lines += ["Connection: " + ("keep-alive" if self.keep else "close")]
        await self.raw(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace"))

    async def body(
        self,
        data: Any,
        code: int = 200,
        reason: str = "OK",
        content_type: str | None = "application/json",
        extra: Headers = (),
    ) -> None:
        """Send a response with a body of known length."""
        data = data if isinstance(data, bytes) else js(data)
        await self.head(code, reason, content_type, extra, length=len(data))
        await self.raw(data)

    async def chunk(self, data: bytes, pause: float = 0.0) -> None:
        """Send one HTTP chunk."""
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data), pause)

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def sse_head(self, extra: Headers = (), content_type: str = "text/event-stream; charset=utf-8") -> None:
        await self.head(200, "OK", content_type, (("Cache-Control", "no-cache"), *extra))

    async def sse(self, *items: Any, pause: float = 0.0) -> None:
        """Send events, each as one HTTP chunk; bytes are sent as they are."""
        for item in items:
            await self.chunk(item if isinstance(item, bytes) else event(item), pause)

    def events(self, texts: Iterable[str] = TEXT, *, done: bool = True, finish: str | None = "stop") -> list[bytes]:
        return stream_events(self.model, tuple(texts), done=done, finish=finish)

    def reset(self) -> NoReturn:
        """Abort with RST instead of FIN."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        raise Finished

    def close(self) -> NoReturn:
        self.writer.close()
        raise Finished


Fault = Callable[[FaultResponse], Awaitable[None]]
FAULTS: Final[dict[str, tuple[Fault, str]]] = {}


def fault(name: str, about: str) -> Callable[[Fault], Fault]:
    """Register a fault."""

    def register(function: Fault) -> Fault:
        FAULTS[name] = (function, about)
        return function

    return register
