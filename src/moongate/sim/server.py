"""The simulator's HTTP/1.1 server. Small, and its own, because it must also send malformed responses.

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
from moongate.sim.behaviours import UnknownModel, rows_of
from moongate.sim.ledger import LedgerEntry
from moongate.sim.responses import SimRequest, SimResponse
from moongate.sim.vendor import Vendor

MAX_HEAD: Final = 64 * 1024
MAX_BODY: Final = 64 * 1024 * 1024
STALL_SECONDS: Final = 600.0  # longest stall, so that no socket stays open for ever

log = logging.getLogger("moongate.sim")


class _Malformed(Exception):
    """The request is not HTTP/1.1, or too large."""


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
        """The bodies of the chat requests received, oldest first (the last 1000)."""
        return [body for _, body in self.vendor.seen]

    @property
    def billed(self) -> list[LedgerEntry]:
        """What was billed, oldest first (the last 20 000 chat requests); also at GET /sim/ledger."""
        return list(self.vendor.ledger.entries)

    async def stop(self) -> None:
        self.listener.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def start(host: str = "127.0.0.1", port: int = 0, play: str = "") -> SimServer:
    """Listen; port 0 takes a free port. `play` names rows for every request, such as `strict-walls`.

    Raises ConfigError if `play` names an unknown row, OSError if the address cannot be bound.
    """
    try:
        rows_of(play)
    except UnknownModel as unknown:
        raise ConfigError(str(unknown), path="play") from None
    vendor = Vendor(play)
    tasks: set[asyncio.Task[None]] = set()

    # A plain callback that makes its own task: the task that asyncio makes for a coroutine logs its cancellation.
    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(_serve(vendor, reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(connected, host, port, limit=MAX_HEAD, backlog=1024)
    return SimServer(vendor, host, listener.sockets[0].getsockname()[1], listener, tasks)


def main(host: str = "127.0.0.1", port: int = 3999, play: str = "") -> None:
    """Run until interrupted. Raises ConfigError if it cannot start."""

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
            if response.entry is not None and response.ending == "end":
                response.entry.delivered = True
            if not keep:
                break
    except (_Malformed, ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        pass  # the client disconnected or sent no HTTP: there is no one to answer
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError, OSError):
            await writer.wait_closed()


async def _read(reader: asyncio.StreamReader) -> SimRequest | None:
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
    path, _, query = parts[1].partition("?")
    return SimRequest(parts[0], path, headers, body, query)


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


async def _write(
    response: SimResponse, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, keep: bool
) -> None:
    phrase = HTTPStatus(response.status).phrase
    lines = [f"HTTP/1.1 {response.status} {phrase}", *(f"{name}: {value}" for name, value in response.headers)]
    if response.chunked:
        lines.append("transfer-encoding: chunked")
    lines.append("connection: keep-alive" if keep else "connection: close")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    pieces = [b"%x\r\n%b\r\n" % (len(piece), piece) if response.chunked else piece for piece in response.pieces]
    if response.chunked and response.ending == "end":
        pieces.append(b"0\r\n\r\n")
    if response.pause or response.silences:
        await _write_slowly(head, pieces, response, reader, writer)
    else:
        for piece in [head, *pieces]:  # separate writes, as a model streams its tokens
            writer.write(piece)
        await writer.drain()
    if response.ending == "chunk":
        writer.write(b"no number\r\n")
        await writer.drain()
    elif response.ending == "stall":
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reader.read(1), STALL_SECONDS)


async def _write_slowly(
    head: bytes, pieces: list[bytes], response: SimResponse, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(head)
    for number, piece in enumerate(pieces):
        await asyncio.sleep(response.silences.get(number, 0))
        if writer.is_closing():
            raise ConnectionResetError("the client has disconnected")
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(response.pause)
        if reader.at_eof():
            raise ConnectionResetError("the client has disconnected")
