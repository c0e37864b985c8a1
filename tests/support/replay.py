"""An upstream that sends recorded bytes: the model name (after the last slash) selects the recording."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

RECORDINGS = Path(__file__).parent.parent / "recordings"


def recordings() -> dict[str, bytes]:
    """The recorded streams by name, without the comment that names their source."""
    found = {}
    for file in sorted(RECORDINGS.glob("*.sse")):
        head, _, body = file.read_bytes().partition(b"\n\n")
        assert head.startswith(b": source: "), f"{file.name} does not say where it comes from"
        found[file.stem] = body
    return found


@dataclass(slots=True)
class ReplayUpstream:
    """`bodies` by model; each is written in pieces of `piece` bytes, every one an HTTP chunk."""

    bodies: Mapping[str, bytes]
    content_type: str = "text/event-stream"
    piece: int = 700
    port: int = 0
    requests: list[dict[str, object]] = field(default_factory=list)
    _servers: list[asyncio.Server] = field(default_factory=list)

    async def start(self) -> ReplayUpstream:
        self._servers.append(await asyncio.start_server(self._connected, "127.0.0.1", 0))
        self.port = self._servers[0].sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        for server in self._servers:
            server.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        request = json.loads(await reader.readexactly(length))
        self.requests.append(request)
        body = self.bodies[str(request["model"]).rpartition("/")[2]]
        writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-type: {self.content_type}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        )
        for at in range(0, len(body), self.piece):
            data = body[at : at + self.piece]
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        writer.write(b"0\r\n\r\n")
        await writer.drain()
