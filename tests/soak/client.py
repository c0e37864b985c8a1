"""A client of raw sockets: it may stop, dawdle or leave at any byte."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from dataclasses import dataclass
from typing import Any

from tests.support.canary import CLIENT_KEY

KEY = CLIENT_KEY
CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


def request(path: str, body: bytes | None = None) -> bytes:
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n"
    if body is None:
        return f"{head}\r\n".encode()
    return f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def question(model: str, text: str, *, stream: bool, path: str = CHAT, **more: Any) -> bytes:
    """A request that asks `model` something, for any of the fronts."""
    asked: dict[str, Any] = {"model": model, "stream": stream, **more}
    if path == RESPONSES:
        asked["input"] = text
    else:
        asked["messages"] = [{"role": "user", "content": text}]
    if path == MESSAGES:
        asked["max_tokens"] = 100
    return request(path, json.dumps(asked).encode())


class Caller:
    """One connection to the gateway."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.heard = 0  # bytes of the answer's body so far

    @classmethod
    async def open(cls, port: int) -> Caller:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> Answer:
        """The next answer. Raises IncompleteReadError or ConnectionError if it is cut."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head[9:12])
        if b"content-length: " in head:
            length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            return Answer(status, await self.reader.readexactly(length))
        parts = []
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            parts.append((await self.reader.readexactly(size + 2))[:-2])
            self.heard += size
        await self.reader.readexactly(2)
        return Answer(status, b"".join(parts))

    def reset(self) -> None:
        """Leave with RST, as a killed process with unread bytes does."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def leave(self) -> None:
        """Leave with FIN."""
        self.writer.transport.abort()


async def ask_once(port: int, path: str, body: bytes | None = None) -> Answer:
    caller = await Caller.open(port)
    try:
        caller.send(request(path, body))
        return await caller.answer()
    finally:
        caller.leave()
