"""The client of one origin: builds requests, sends each once (twice if a reused connection was dead)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final

from moongate.errors import ConfigError
from moongate.net.connection import StaleConnection
from moongate.net.contract import Headers, Response
from moongate.net.deadlines import Deadlines
from moongate.net.dial import Origin
from moongate.net.pool import IDLE_SECONDS, NO_REUSE_SECONDS, Pool

MAX_CACHED_HEADS: Final = 256
REQUEST: Final = re.compile(r"(DELETE|GET|PATCH|POST|PUT) /[!-~]*")  # the answer to HEAD would be read as cut


class HttpClient:
    """Implements `contract.Upstream`. Belongs to the event loop in which it first sends."""

    def __init__(
        self,
        origin: Origin,
        *,
        connections: int = 1024,
        idle_seconds: float = IDLE_SECONDS,
        no_reuse_seconds: float = NO_REUSE_SECONDS,
    ) -> None:
        self._pool = Pool(origin, connections, idle_seconds=idle_seconds, no_reuse_seconds=no_reuse_seconds)
        host = origin.authority.removesuffix(":443" if origin.tls else ":80")
        self._common_headers = f" HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: identity\r\n".encode("ascii")
        self._heads: dict[object, bytes] = {}  # most requests differ only in their length

    async def send(
        self,
        method: str,
        path: str,
        headers: Headers,
        body: bytes,
        *,
        deadlines: Deadlines,
        may_resend: Callable[[], bool] = lambda: True,
    ) -> Response:
        head = self._head(method, path, headers, len(body))
        connection = self._pool.idle() or await self._pool.take(deadlines.connect)
        while True:
            exchange = connection.start(head, body, deadlines)
            try:
                await exchange.wait()
                exchange.check()
                return exchange
            except StaleConnection:  # the one silent retry: a fresh connection is never stale
                if not may_resend():
                    raise
                connection = await self._pool.take(deadlines.connect, fresh=True)
            except BaseException:
                exchange.close()
                raise

    async def upload(
        self,
        method: str,
        path: str,
        headers: Headers,
        length: int | None,
        pieces: AsyncIterator[bytes],
        *,
        deadlines: Deadlines,
    ) -> Response:
        framing = b"Transfer-Encoding: chunked" if length is None else b"Content-Length: %d" % length
        head = self._build_head(method, path, headers) + framing + b"\r\n\r\n"
        connection = await self._pool.take(deadlines.connect, fresh=True)
        exchange = connection.start(head, b"", deadlines)
        sending = asyncio.ensure_future(connection.upload(exchange, pieces, chunked=length is None))
        try:
            await exchange.wait()
            exchange.check()
            return exchange
        except BaseException:
            exchange.close()
            raise
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError):
                await sending

    def close(self) -> None:
        self._pool.close()

    def _head(self, method: str, path: str, headers: Headers, length: int) -> bytes:
        key = (method, path, *headers)
        prefix = self._heads.get(key)
        if prefix is None:
            if len(self._heads) >= MAX_CACHED_HEADS:
                self._heads.clear()
            prefix = self._heads[key] = self._build_head(method, path, headers)
        return b"%bContent-Length: %d\r\n\r\n" % (prefix, length)

    def _build_head(self, method: str, path: str, headers: Headers) -> bytes:
        line = f"{method} {path}"
        if not REQUEST.fullmatch(line):
            raise ConfigError(f"not a request that can be sent: {line!r}")
        lines = [line.encode("ascii") + self._common_headers, *(b"%b: %b\r\n" % pair for pair in headers)]
        head = b"".join(lines)
        if head.count(b"\n") != len(lines) + 2 or head.count(b"\r") != len(lines) + 2 or 0 in head:
            raise ConfigError("a request header holds a line break")
        return head
