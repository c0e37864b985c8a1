"""Faults of HTTP framing: lengths, chunks, status lines, headers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.support.faulty_upstream.payloads import completion, js
from tests.support.faulty_upstream.response import FAULTS, FaultResponse, fault

OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Type: application/json\r\n"
LENGTH = b"Content-Length: %LEN\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + HINTS + b"Link: </x>; rel=preload\r\n\r\n"

Wire = Callable[[bytes], bytes]  # the correct JSON → all bytes of the response


def _raw_fault(name: str, about: str, wire: Wire) -> None:
    async def play(p: FaultResponse) -> None:
        await p.raw(wire(js(completion(p.model))))
        await asyncio.sleep(0.05)
        p.close()

    FAULTS[name] = (play, about)


def _head(head: bytes, body: bytes | None = None) -> Wire:
    return lambda data: head.replace(b"%LEN", b"%d" % len(data)) + (data if body is None else body)


def _chunked(head: bytes, extension: bytes = b"", trailer: bytes = b"") -> Wire:
    return lambda data: head + b"\r\n%x%b\r\n%b\r\n0\r\n%b\r\n" % (len(data), extension, data, trailer)


ROWS: tuple[tuple[str, str, Wire], ...] = (
    (
        "close_delimited",
        "HTTP/1.0, no length: the body ends with the connection (legal)",
        _head(b"HTTP/1.0 200 OK\r\n" + JSON + b"\r\n"),
    ),
    (
        "cl_too_small",
        "Content-Length 20, the whole JSON follows (surplus bytes on the wire)",
        _head(OK + JSON + b"Content-Length: 20\r\n\r\n"),
    ),
    (
        "cl_twice",
        "two different Content-Length fields",
        _head(OK + JSON + LENGTH + b"Content-Length: 5\r\n\r\n"),
    ),
    ("cl_negative", "Content-Length: -1", _head(OK + JSON + b"Content-Length: -1\r\n\r\n")),
    (
        "cl_huge",
        "Content-Length: 10**30, a small body, FIN",
        _head(OK + JSON + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n"),
    ),
    (
        "te_and_cl",
        "Transfer-Encoding: chunked together with Content-Length",
        _chunked(OK + JSON + b"Content-Length: 3\r\n" + CHUNKED),
    ),
    ("te_unknown", "Transfer-Encoding: xchunked", _head(OK + JSON + b"Transfer-Encoding: xchunked\r\n\r\n")),
    ("chunk_size_bad", "chunk size 'ZZ'", _head(OK + JSON + CHUNKED + b"\r\nZZ\r\n")),
    ("chunk_size_huge", "chunk size ffffffffffffffff", _head(OK + JSON + CHUNKED + b"\r\nffffffffffffffff\r\n")),
    (
        "chunk_ext_trailers",
        "legal chunk extensions and trailers",
        _chunked(OK + JSON + CHUNKED + b"Trailer: x-t\r\n", b';a=b;c="d"', b"x-t: 1\r\n"),
    ),
    ("status_line_bad", "status line 'HTTP/1.1 abc'", _head(b"HTTP/1.1 abc\r\n" + JSON + b"\r\n")),
    ("not_http", "an SSH banner instead of HTTP", _head(b"SSH-2.0-OpenSSH_9.6\r\n", b"")),
    ("http09", "a body with no status line at all", _head(b"")),
    (
        "header_bad",
        "a header line without colon, NUL and bare LF in values",
        _head(OK + b"no colon here\r\nX-A: a\x00b\nX-B: c\r\n" + JSON + LENGTH + b"\r\n"),
    ),
    (
        "giant_header",
        "one header field of 1 MiB",
        _head(OK + b"X-Big: " + b"a" * 1048576 + b"\r\n" + JSON + LENGTH + b"\r\n"),
    ),
    (
        "many_headers",
        "20 000 header fields",
        _head(OK + b"".join(b"X-%d: y\r\n" % i for i in range(20000)) + JSON + LENGTH + b"\r\n"),
    ),
    (
        "early_hints",
        "100, 102 and 103 interim answers before a correct 200",
        _head(INTERIM + OK + JSON + LENGTH + b"Connection: close\r\n\r\n"),
    ),
    (
        "interim_flood",
        "5 000 interim 103 answers before the 200",
        _head((HINTS + b"X: y\r\n\r\n") * 5000 + OK + JSON + LENGTH + b"Connection: close\r\n\r\n"),
    ),
    (
        "switch_101",
        "101 Switching Protocols that was not requested",
        _head(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", b"\0\0\0"),
    ),
    ("no_content_204", "204 with a body anyway", _head(b"HTTP/1.1 204 No Content\r\n" + JSON + LENGTH + b"\r\n")),
)
for row in ROWS:
    _raw_fault(*row)


@fault("endless_headers", "header fields until a bound of this program is reached")
async def endless_headers(p: FaultResponse) -> None:
    await p.raw(OK)
    block = b"".join(b"X-%04d: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" % i for i in range(1000))
    while True:
        await p.raw(block, 0.001)


@fault("tiny_chunks", "a correct stream, every HTTP chunk one byte, written at once")
async def tiny_chunks(p: FaultResponse) -> None:
    await p.sse_head()
    await p.raw(b"".join(b"1\r\n%c\r\n" % byte for byte in b"".join(p.events())))
    await p.end()
