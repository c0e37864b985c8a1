"""One request being answered badly, and the register of all faults."""

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
    """The fault is done with this connection."""


class TooMuch(Exception):
    """A bound of this program was reached."""


class Bounds(Protocol):
    """What a fault needs to know of the server that plays it."""

    max_seconds: float
    max_bytes: int
    port: int
    counters: Counter[str]
    storms: Counter[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """The request, as far as the faults look at it."""

    path: str
    headers: Mapping[str, str]
    params: Mapping[str, str]
    model: str
    stream: bool
    last_user: str


class WatchedReader(asyncio.StreamReader):
    """A reader that knows at once when the client has closed."""

    gone: asyncio.Event


@dataclass(slots=True)
class Play:
    server: Bounds
    reader: WatchedReader
    writer: asyncio.StreamWriter
    asked: Asked
    keep: bool
    sent: int = 0
    model: str = field(init=False)

    def __post_init__(self) -> None:
        self.model = self.asked.model or "faulty"

    def number(self, key: str, default: float) -> float:
        """An option that rides on the fault's name, such as `~mb=8`."""
        try:
            return float(self.asked.params.get(key, default))
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
            await self.nap(pause)

    async def nap(self, seconds: float) -> None:
        """Sleep, but notice at once that the client has closed."""
        try:
            await asyncio.wait_for(self.reader.gone.wait(), seconds)
        except TimeoutError:
            return
        raise ConnectionResetError("the client has left")

    async def hang(self) -> None:
        """Say nothing until the client leaves or the bound is reached."""
        await self.nap(self.number("s", self.server.max_seconds))

    async def head(
        self,
        code: int = 200,
        reason: str = "OK",
        content_type: str | None = "application/json",
        extra: Headers = (),
        length: int | None = None,
    ) -> None:
        """The head; without a length the body is chunked."""
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
        """A whole answer."""
        data = data if isinstance(data, bytes) else js(data)
        await self.head(code, reason, content_type, extra, length=len(data))
        await self.raw(data)

    async def chunk(self, data: bytes, pause: float = 0.0) -> None:
        """One HTTP chunk."""
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data), pause)

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def sse_head(self, extra: Headers = (), content_type: str = "text/event-stream; charset=utf-8") -> None:
        await self.head(200, "OK", content_type, (("Cache-Control", "no-cache"), *extra))

    async def sse(self, *items: Any, pause: float = 0.0) -> None:
        """Events, each an HTTP chunk; bytes go as they are."""
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


Fault = Callable[[Play], Awaitable[None]]
FAULTS: Final[dict[str, tuple[Fault, str]]] = {}


def fault(name: str, about: str) -> Callable[[Fault], Fault]:
    """Register a fault."""

    def register(play: Fault) -> Fault:
        FAULTS[name] = (play, about)
        return play

    return register
