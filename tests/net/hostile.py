"""A raw socket server that does exactly what a test scripts, valid or not."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest
import uvloop

from moongate.net.client import HttpClient
from moongate.net.contract import Response
from moongate.net.deadlines import Deadlines
from moongate.net.dial import Origin

T = TypeVar("T")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
on_both_loops = pytest.mark.parametrize("loop", list(LOOPS))


def run(loop: str, main: Coroutine[Any, Any, T], seconds: float = 30) -> T:
    """Run a test's coroutine. A hang is a failure."""

    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            return await main

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        return runner.run(bounded())


class Peer:
    """One accepted connection, seen from the provider's side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def request(self) -> bytes:
        """Head and body of the next request."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return head + await self.reader.readexactly(length)

    async def send(self, *parts: bytes, pause: float = 0.01) -> None:
        for index, part in enumerate(parts):
            if index:
                await asyncio.sleep(pause)
            self.writer.write(part)
            await self.writer.drain()

    def reset(self) -> None:
        """Close with RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def closed(self) -> bool:
        """Wait until the client has closed."""
        try:
            return await self.reader.read() == b""
        except ConnectionError:
            return True


Script = Callable[[Peer], Awaitable[None]]


class Hostile:
    """Runs one of `scripts` per connection, the last one for all further ones; closes after each."""

    def __init__(self, *scripts: Script, **client_options: Any) -> None:
        self.scripts = scripts
        self._client_options = client_options
        self.connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Hostile:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.origin = Origin("127.0.0.1", self.port, False)
        self.client = HttpClient(self.origin, **self._client_options)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.client.close()
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        script = self.scripts[min(self.connections, len(self.scripts) - 1)]
        self.connections += 1
        try:
            await script(Peer(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort() if writer.transport.is_closing() else writer.close()
            self._tasks.discard(task)

    async def ask(self, body: bytes = b"{}", deadlines: Deadlines | None = None) -> Response:
        return await self.client.send("POST", "/v1/x", [], body, deadlines=deadlines or Deadlines(5, 5, 5, 5, 10))

    async def answer(self, body: bytes = b"{}", deadlines: Deadlines | None = None) -> bytes:
        return await (await self.ask(body, deadlines)).read(1 << 20)


def sends(*parts: bytes, pause: float = 0.01) -> Script:
    """Read one request, say the parts, close."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(*parts, pause=pause)

    return script


def repeats(*parts: bytes) -> Script:
    """Answer every request of the connection with the same parts."""

    async def script(peer: Peer) -> None:
        while True:
            await peer.request()
            await peer.send(*parts)

    return script
