"""One HTTP/1.1 answer after another, read from bytes. Pure: no socket, no clock.

httptools (llhttp in its strict mode) knows the grammar; this class adds what it leaves
open: size limits, one transfer coding, interim answers, bodies that end with the
connection, and what makes a connection unfit for another request.
"""

from __future__ import annotations

from typing import Final

import httptools

from moongate.errors import BadUpstream

MAX_HEAD: Final = 64 * 1024  # bytes of a head, and of anything else that brings no body byte
MAX_HEADERS: Final = 128


class Reader:
    """`feed` gives the body's bytes; the head is there when `status` is not 0."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self.reset()

    def reset(self) -> None:
        """Be ready for the next answer. Only for a reader that is `reusable`."""
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.heard = False  # any byte at all
        self._modern = False  # its first read says HTTP/1.1: to ask the parser for a text of it takes longer
        self.complete = False
        self.reusable = True  # may another request follow on this connection?
        self.surplus = False  # more came than was asked for
        self.failure: BadUpstream | None = None  # a failed reader stays failed
        self._between = False  # the last thing that was read is a whole chunk
        self._head_size = self._barren = 0
        self._until_eof = False

    def feed(self, data: bytes) -> bytes:
        """Read on. Gives the body bytes that came before the failure, if `failure` is set."""
        if not self.heard:
            self.heard, self._modern = True, data.startswith(b"HTTP/1.1 ")
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(str(error))
        except httptools.HttpParserUpgrade:
            self._fail("it switches protocols")
        body = self._body
        if body:
            self._barren = 0
            data = body[0] if len(body) == 1 else b"".join(body)
            body.clear()
            return data
        self._barren += len(data)
        if self._barren > MAX_HEAD:
            self._fail("its framing is too large" if self.status else "its head is too large")
        return b""

    def is_between(self, data: bytes) -> bool:
        """Does the next byte begin an HTTP chunk? `data` is what was fed last."""
        # The size of a chunk, cut, has no end of line yet.
        return self._between and not self.complete and data.endswith(b"\n")

    def close(self) -> None:
        """The connection ended in good order: is that the end of the answer?"""
        self.reusable = False
        self.complete = self.complete or (self._until_eof and self.failure is None)

    def _fail(self, why: str) -> None:
        self.reusable = False
        if self.complete:
            self.surplus = True
        elif self.failure is None:
            self.failure = BadUpstream(f"the provider's answer is not valid HTTP: {why}", code="bad_http")

    # httptools calls what follows.

    def on_message_begin(self) -> None:
        if self.complete:
            self.reusable = False
            self.surplus = True

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value) + 4
        if self._head_size > MAX_HEAD or len(self.headers) >= MAX_HEADERS:
            self._fail("its head is too large")
        elif not self.status:
            name = name.lower()
            known = self.headers.get(name)
            self.headers[name] = value if known is None else known + b", " + value

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        version = "1.1" if self._modern else self._parser.get_http_version()
        if self.status:
            return  # the head of an answer that nobody asked for
        if status in (100, 102, 103):
            self.reusable = self._modern = False
            self.headers.clear()
            return
        coding = self.headers.get(b"transfer-encoding")
        if not 200 <= status < 600 or version not in ("1.1", "1.0"):
            self._fail(f"status {status}, version {version}")
        elif coding is not None and (coding.lower() != b"chunked" or version == "1.0"):
            self._fail("its transfer coding is not chunked")
        else:
            self.status = status
            self.reusable = self.reusable and version == "1.1" and self._parser.should_keep_alive()
            framed = coding is not None or b"content-length" in self.headers or status in (204, 304)
            self._until_eof = not framed

    def on_body(self, data: bytes) -> None:
        if not self.complete and self.failure is None:
            self._body.append(data)

    def on_chunk_header(self) -> None:
        self._between = False

    def on_chunk_complete(self) -> None:
        self._between = True

    def on_message_complete(self) -> None:
        self.complete = self.complete or (self.status > 0 and self.failure is None)
