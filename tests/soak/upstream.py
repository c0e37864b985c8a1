"""A scripted provider: one coroutine per request, cancelled when the gateway disconnects."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from tests.support.canary import PROVIDER_KEY

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"


@dataclass(slots=True)
class UpstreamRequest:
    """One received request."""

    body: dict[str, Any]
    connection: Connection
    answered: bool = False  # the handler has finished
    lost: float | None = None  # when the gateway disconnected before that

    @property
    def text(self) -> str:
        """The text of the client's message."""
        return str(self.body["messages"][-1]["content"])

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))

    def write(self, data: bytes) -> None:
        self.connection.transport.write(data)

    def chunk(self, data: bytes) -> None:
        self.write(chunked(data))


Handler = Callable[[UpstreamRequest], Awaitable[None]]


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def document(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})
    return f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()


def stream(text: str) -> bytes:
    """A complete streamed response."""
    return STREAM + chunked(event(text) + event("", "stop") + DONE) + b"0\r\n\r\n"


async def echo(request: UpstreamRequest) -> None:
    request.write(stream(request.text) if request.streamed else document(request.text))


class Connection(asyncio.Protocol):
    """Reads one request after the other."""

    transport: asyncio.Transport

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self._data = b""
        self._task: asyncio.Task[None] | None = None
        self._asked: UpstreamRequest | None = None
        self._room = asyncio.Event()
        self._room.set()

    async def room(self) -> None:
        """Wait until the gateway reads more."""
        await self._room.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.upstream.connections.add(self)

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, rest = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(rest) < length:
            return
        self._data = rest[length:]
        self._asked = UpstreamRequest(json.loads(rest[:length]), self)
        self.upstream.seen.append(self._asked)
        self._task = asyncio.get_running_loop().create_task(self._answer(self._asked))

    async def _answer(self, request: UpstreamRequest) -> None:
        await self.upstream.handler(request)
        request.answered = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.upstream.connections.discard(self)
        request = self._asked
        if request is not None and not request.answered:
            request.lost = time.perf_counter()
        if self._task is not None:
            self._task.cancel()


class Upstream:
    """Listens on a port of its own. `seen` holds every request."""

    def __init__(self, handler: Handler = echo) -> None:
        self.handler = handler
        self.seen: list[UpstreamRequest] = []
        self.connections: set[Connection] = set()
        self.url = ""

    def provider(self, name: str = "up", **more: Any) -> dict[str, Any]:
        return {"name": name, "api_base_url": self.url, "api_key": f"{PROVIDER_KEY}{name}", "models": ["m"], **more}

    def hang_up(self) -> None:
        """Close all connections."""
        for connection in list(self.connections):
            connection.transport.abort()


@contextlib.asynccontextmanager
async def listening(handler: Handler = echo) -> AsyncIterator[Upstream]:
    upstream = Upstream(handler)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(upstream), "127.0.0.1", 0, backlog=2048)
    upstream.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield upstream
    finally:
        server.close()
        upstream.hang_up()
        await asyncio.sleep(0.05)
