"""The server of the faulty upstream: bounded, loopback only, with listeners that fail before HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.faulty_upstream.request import choose, first_known, last_user, object_of, read_body, read_head
from tests.support.faulty_upstream.response import FAULTS, FaultRequest, FaultResponse, Finished, TooMuch, WatchedReader

UNREAD = ("early_413", "no_read")  # these must be selected before the body is read
OnConnection = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None] | None]


class Watched(asyncio.StreamReaderProtocol):
    """A stream protocol that notifies its reader when the client sends FIN or RST."""

    gone: asyncio.Event

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


async def listen(connected: OnConnection, host: str, port: int) -> asyncio.Server:
    loop = asyncio.get_running_loop()

    def protocol() -> Watched:
        reader = WatchedReader(limit=1 << 20, loop=loop)
        made = Watched(reader, connected, loop=loop)
        made.gone = reader.gone = asyncio.Event()
        return made

    return await loop.create_server(protocol, host, port, backlog=1024)


@dataclass(slots=True)
class FaultyUpstream:
    max_seconds: float = 60.0
    max_bytes: int = 256 << 20
    max_connections: int = 4096
    host: str = "127.0.0.1"
    port: int = 0
    rst_port: int = 0  # RST as soon as the connection is accepted
    mute_port: int = 0  # accepts, never reads, never writes
    full_port: int = 0  # listen queue kept full: connect() hangs
    open_now: int = 0
    counters: Counter[str] = field(default_factory=Counter)
    storms: Counter[str] = field(default_factory=Counter)
    early: Counter[str] = field(default_factory=Counter)  # faults whose client disconnected before the end
    requests: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=500))
    events: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=500))
    _servers: list[asyncio.Server] = field(default_factory=list)
    _sockets: list[socket.socket] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self) -> FaultyUpstream:
        """Listen on free ports of the loopback; the target of redirects is the same server on 127.0.0.2."""
        self.port = await self._listen(self._connected, self.port)
        self.rst_port = await self._listen(_reset_at_once)
        self.mute_port = await self._listen(self._accept_silently)
        self.full_port = self._full_listener()
        with contextlib.suppress(OSError):
            self._servers.append(await listen(self._connected, "127.0.0.2", self.port))
        return self

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        for sock in self._sockets:
            sock.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    async def _listen(self, connected: OnConnection, port: int = 0) -> int:
        server = await listen(connected, self.host, port)
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    def _full_listener(self) -> int:
        listener = socket.socket()
        self._sockets.append(listener)
        listener.bind((self.host, 0))
        listener.listen(0)
        for _ in range(4):
            filler = socket.socket()
            self._sockets.append(filler)
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        port: int = listener.getsockname()[1]
        return port

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(reader, WatchedReader)
        self._spawn(self._bounded(reader, writer))

    def _accept_silently(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def keep() -> None:
            assert isinstance(writer.transport, asyncio.Transport)
            writer.transport.pause_reading()
            try:
                await asyncio.sleep(self.max_seconds)
            finally:
                writer.transport.abort()

        self._spawn(keep())

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _bounded(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> None:
        self.open_now += 1
        self.counters["accepted"] += 1
        try:
            await asyncio.wait_for(self._serve(reader, writer), self.max_seconds)
        except TimeoutError:
            self.counters["timed_out"] += 1
        finally:
            writer.transport.abort()
            self.open_now -= 1

    async def _serve(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        try:
            while await self._answer(reader, writer):
                pass
            writer.close()
            await asyncio.wait_for(writer.wait_closed(), 10)
        except Finished:
            self.counters["finished"] += 1
            await asyncio.sleep(0.2)  # lets written data be sent before the transport is aborted
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        except TooMuch:
            self.counters["bounded"] += 1

    async def _answer(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; True if the connection can be used for another."""
        method, target, version, headers = await read_head(reader)
        if self.open_now > self.max_connections:
            raise TooMuch("connections")
        path, _, query = target.partition("?")
        early = first_known([headers.get("x-fault", ""), *path.split("/")[1:3]], UNREAD)
        raw = b"" if early else await read_body(reader, headers)
        body = object_of(raw)
        model = body.get("model") if isinstance(body.get("model"), str) else ""
        name, params = early or choose(headers, path, str(model))
        params |= dict(pair.split("=", 1) for pair in query.split("&") if "=" in pair)
        self._record(name, method, target, headers, raw, writer)
        request = FaultRequest(path, headers, params, str(model), body.get("stream") is True, last_user(body))
        keep = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        response = FaultResponse(self, reader, writer, request, keep)
        begun = time.monotonic()
        try:
            await FAULTS[name][0](response)
        except (OSError, asyncio.IncompleteReadError) as error:
            self.early[name] += 1
            after = round(time.monotonic() - begun, 3)
            self.events.append({"fault": name, "after_s": after, "sent": response.sent, "how": type(error).__name__})
            raise
        self.counters["finished"] += 1
        return response.keep

    def _record(
        self, name: str, method: str, target: str, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter
    ) -> None:
        self.counters["requests"] += 1
        seen = {"fault": name, "method": method, "target": target, "headers": dict(headers), "bytes": len(raw)}
        seen |= {"host": writer.get_extra_info("sockname")[0], "sha256": hashlib.sha256(raw).hexdigest()}
        self.requests.append(seen)


def _reset_at_once(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
