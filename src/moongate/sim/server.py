"""The simulator's sockets: a small HTTP/1.1 server that can also send what no decent server sends.

server = await start(port=0, play="strict")   # inside a program
main(host="127.0.0.1", port=3999)             # on its own, until interrupted
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from moongate.errors import ConfigError
from moongate.payload import JsonObject
from moongate.sim.app import Request, Response, Vendor
from moongate.sim.behaviours import UnknownModel, rows_of

MAX_HEAD: Final = 64 * 1024
MAX_BODY: Final = 64 * 1024 * 1024
STALL_SECONDS: Final = 600.0  # a stalled answer ends then, so that no socket lives for ever

log = logging.getLogger("moongate.sim")


class _Malformed(Exception):
    """The request is no HTTP that we read."""


@dataclass(slots=True)
class SimServer:
    """A running simulator."""

    vendor: Vendor
    host: str
    port: int
    listener: asyncio.Server
    tasks: set[asyncio.Task[None]]

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    @property
    def seen(self) -> list[JsonObject]:
        """The bodies of the chat requests that came in, oldest first (the last 1000)."""
        return [body for _, body in self.vendor.seen]

    async def stop(self) -> None:
        self.listener.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def start(host: str = "127.0.0.1", port: int = 0, play: str = "") -> SimServer:
    """Listen; port 0 takes a free one. `play` holds rows for every request, such as `strict-walls`.

    Raises ConfigError if it cannot play them, OSError if the address cannot be had.
    """
    try:
        rows_of(play)
    except UnknownModel as unknown:
        raise ConfigError(str(unknown), path="play") from None
    vendor = Vendor(play)
    tasks: set[asyncio.Task[None]] = set()

    # Our own tasks: the one that asyncio would make for a coroutine complains when it is cancelled.
    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(_serve(vendor, reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(connected, host, port, limit=MAX_HEAD, backlog=1024)
    return SimServer(vendor, host, listener.sockets[0].getsockname()[1], listener, tasks)


def main(host: str = "127.0.0.1", port: int = 3999, play: str = "") -> None:
    """Run until interrupted. Raises ConfigError if that cannot be."""

    async def forever() -> None:
        try:
            server = await start(host, port, play)
        except OSError as error:
            raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror} (--host, --port)") from None
        print(f"Kimi simulator on {server.url}", flush=True)
        async with server.listener:
            await server.listener.serve_forever()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(forever())


async def _serve(vendor: Vendor, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, request after request."""
    try:
        while (request := await _read(reader)) is not None:
            response = vendor.answer(request)
            log.info("%s %s %d", request.method, request.path, response.status)
            keep = request.headers.get("connection", "").lower() != "close" and response.ending == "end"
            await _write(response, reader, writer, keep=keep)
            if not keep:
                break
    except (_Malformed, ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        pass  # a client that leaves, or speaks no HTTP, is not answered
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError, OSError):
            await writer.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """The next request, or None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        if end.partial.strip():
            raise
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3:
        raise _Malformed(first)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    body = await _read_body(reader, headers)
    return Request(parts[0], parts[1].partition("?")[0], headers, body)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        length = int(headers.get("content-length", "0"))
        if length > MAX_BODY:
            raise _Malformed("too large")
        return await reader.readexactly(length)
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        if len(body) + size > MAX_BODY:
            raise _Malformed("too large")
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return bytes(body)


async def _write(response: Response, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, keep: bool) -> None:
    phrase = HTTPStatus(response.status).phrase
    lines = [f"HTTP/1.1 {response.status} {phrase}", *(f"{name}: {value}" for name, value in response.headers)]
    if response.chunked:
        lines.append("transfer-encoding: chunked")
    lines.append("connection: keep-alive" if keep else "connection: close")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    pieces = [b"%x\r\n%b\r\n" % (len(piece), piece) if response.chunked else piece for piece in response.pieces]
    if response.chunked and response.ending == "end":
        pieces.append(b"0\r\n\r\n")
    if response.pause:
        await _write_slowly(head, pieces, response.pause, reader, writer)
    else:
        for piece in [head, *pieces]:  # a segment each, as a model writes them
            writer.write(piece)
        await writer.drain()
    if response.ending == "chunk":
        writer.write(b"no number\r\n")
        await writer.drain()
    elif response.ending == "stall":
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reader.read(1), STALL_SECONDS)


async def _write_slowly(
    head: bytes, pieces: list[bytes], pause: float, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(head)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause)
        if reader.at_eof():
            raise ConnectionResetError("the client has left")
