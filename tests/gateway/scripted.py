"""An upstream whose answers a test writes byte by byte, and that notices when its client disconnects."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
}


def chunk(text: str, finish: str | None = None) -> bytes:
    """One event of a stream."""
    delta = {"content": text} if text else {}
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return b"data: " + json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": choices}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


@dataclass(slots=True)
class Asked:
    """One request that came, and the way to answer it."""

    head: str  # lower case
    body: bytes
    writer: asyncio.StreamWriter
    number: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        for line in self.head.split("\r\n"):
            key, _, value = line.partition(":")
            if key == name:
                return value.strip()
        return None

    def begin_stream(self, content_type: str = "text/event-stream") -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
        self.writer.write(head.encode())

    def send(self, data: bytes) -> None:
        self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    def end_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")

    def document(self, body: Any = None, status: int = 200, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(COMPLETION if body is None else body).encode()
        lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n"
        self.writer.write((head + "".join(lines) + "\r\n").encode() + data)


Play = Callable[[Asked], Awaitable[None]]


async def whole(asked: Asked) -> None:
    asked.document()


class Scripted:
    """`play` answers each request; `seen` remembers them all. Everything runs on the loop it was started on."""

    def __init__(self, play: Play = whole, *, tls: ssl.SSLContext | None = None) -> None:
        self.play = play
        self.tls = tls
        self.seen: list[Asked] = []
        self.left = 0  # clients that went away while they were being answered
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> Scripted:
        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024, ssl=self.tls)
        return self

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"https://localhost:{port}" if self.tls is not None else f"http://127.0.0.1:{port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0])
                asked = Asked(head, await reader.readexactly(length), writer, len(self.seen) + 1)
                self.seen.append(asked)
                if not await self._answer(asked, reader):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader) -> bool:
        """False if the client left meanwhile."""
        playing = asyncio.ensure_future(self.play(asked))
        try:
            while not playing.done():
                await asyncio.wait({playing}, timeout=0.01)
                gone = reader.at_eof() or reader.exception() is not None  # a reset is an exception
                if gone and not playing.done():
                    self.left += 1
                    return False
            try:
                await playing
                await asked.writer.drain()
            except ConnectionError:
                self.left += 1
                return False
            return True
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)


async def forever(asked: Asked) -> None:
    """No answer at all, until the client leaves."""
    await asyncio.Event().wait()
