"""A client on raw sockets, which can stop, delay or disconnect at any byte."""

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
class SoakResponse:
    status: int
    body: bytes


def raw_request(path: str, body: bytes | None = None) -> bytes:
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n"
    if body is None:
        return f"{head}\r\n".encode()
    return f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def model_request(model: str, text: str, *, stream: bool, path: str = CHAT, **more: Any) -> bytes:
    """A request to `model` with one user message, for any front."""
    request: dict[str, Any] = {"model": model, "stream": stream, **more}
    if path == RESPONSES:
        request["input"] = text
    else:
        request["messages"] = [{"role": "user", "content": text}]
    if path == MESSAGES:
        request["max_tokens"] = 100
    return raw_request(path, json.dumps(request).encode())


class RawClient:
    """One connection to the gateway."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.received = 0  # bytes of the response body

    @classmethod
    async def open(cls, port: int) -> RawClient:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> SoakResponse:
        """The next response. Raises IncompleteReadError or ConnectionError if it is incomplete."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head[9:12])
        if b"content-length: " in head:
            length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            return SoakResponse(status, await self.reader.readexactly(length))
        parts = []
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            parts.append((await self.reader.readexactly(size + 2))[:-2])
            self.received += size
        await self.reader.readexactly(2)
        return SoakResponse(status, b"".join(parts))

    def reset(self) -> None:
        """Disconnect with RST, as a killed process with unread data does."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def leave(self) -> None:
        """Disconnect with FIN."""
        self.writer.transport.abort()


async def ask_once(port: int, path: str, body: bytes | None = None) -> SoakResponse:
    client = await RawClient.open(port)
    try:
        client.send(raw_request(path, body))
        return await client.answer()
    finally:
        client.leave()
