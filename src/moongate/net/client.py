"""The client of one origin: builds requests, sends each once (twice if a kept connection was dead)."""

from __future__ import annotations

import re
from typing import Final

from moongate.errors import ConfigError
from moongate.net.connection import StaleConnection
from moongate.net.contract import Headers, Response
from moongate.net.deadlines import Deadlines
from moongate.net.dial import Origin
from moongate.net.pool import Pool

METHODS: Final = ("GET", "POST")  # the answer to HEAD would be read as cut
TARGET: Final = re.compile(r"/[!-~]*")


class Client:
    """Implements `contract.Upstream`. Belongs to the event loop in which it first sends."""

    def __init__(self, origin: Origin, *, connections: int = 1024) -> None:
        self._pool = Pool(origin, connections)
        host = origin.authority.removesuffix(":443" if origin.tls else ":80")
        self._common = f" HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: identity\r\n".encode("ascii")
        self._lines: dict[tuple[str, str], bytes] = {}  # method and path: as many as the configuration has

    async def send(self, method: str, path: str, headers: Headers, body: bytes, *, deadlines: Deadlines) -> Response:
        head = self._head(method, path, headers, len(body))
        try:
            return await self._send(head, body, deadlines, fresh=False)
        except StaleConnection:
            return await self._send(head, body, deadlines, fresh=True)

    async def _send(self, head: bytes, body: bytes, deadlines: Deadlines, *, fresh: bool) -> Response:
        connection = await self._pool.take(deadlines.connect, fresh=fresh)
        return await connection.start(head, body, deadlines).head()

    def close(self) -> None:
        self._pool.close()

    def _head(self, method: str, path: str, headers: Headers, length: int) -> bytes:
        line = self._lines.get((method, path))
        if line is None:
            if method not in METHODS or not TARGET.fullmatch(path):
                raise ConfigError(f"not a request that can be sent: {method} {path!r}")
            line = self._lines[method, path] = f"{method} {path}".encode("ascii") + self._common
        lines = [b"%b: %b\r\n" % pair for pair in headers]
        fields = b"".join(lines)
        if fields.count(b"\n") != len(lines) or fields.count(b"\r") != len(lines) or b"\0" in fields:
            raise ConfigError("a request header holds a line break")
        return b"%b%bContent-Length: %d\r\n\r\n" % (line, fields, length)
