"""Parses HTTP/1.1 responses from bytes, one after the other. Pure: no socket, no clock.

httptools (llhttp in its strict mode) implements the grammar; this class adds size limits, the one transfer coding that
is accepted, interim responses, bodies that end with the connection, and what makes a connection not reusable.
"""

from __future__ import annotations

from typing import Final

import httptools

from moongate.errors import BadUpstream

MAX_HEAD: Final = 64 * 1024  # bytes of a head, and of anything else that brings no body byte
MAX_HEADERS: Final = 128


class ResponseReader:
    """`feed` returns the body's bytes; the head is complete when `status` is not 0."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self.reset()

    def reset(self) -> None:
        """Prepare for the next response. Only for a reader that is `reusable`."""
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.received_any = False  # any byte at all
        self._http_1_1 = False  # by the first read; asking the parser for the version takes longer
        self.complete = False
        self.reusable = True  # may another request follow on this connection?
        self.surplus = False  # bytes after the end of the response
        self.failure: BadUpstream | None = None  # a failed reader stays failed
        self._after_chunk = False  # the last thing that was parsed is a whole chunk
        self._head_size = self._bytes_without_body = 0
        self._until_eof = False

    def feed(self, data: bytes) -> bytes:
        """Parse more. Returns the bytes of the body; if `failure` is set, those from before it."""
        if not self.received_any:
            self.received_any, self._http_1_1 = True, data.startswith(b"HTTP/1.1 ")
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(str(error))
        except httptools.HttpParserUpgrade:
            self._fail("it switches protocols")
        body = self._body
        if body:
            self._bytes_without_body = 0
            data = body[0] if len(body) == 1 else b"".join(body)
            body.clear()
            return data
        self._bytes_without_body += len(data)
        if self._bytes_without_body > MAX_HEAD:
            self._fail("its framing is too large" if self.status else "its head is too large")
        return b""

    def at_chunk_boundary(self, data: bytes) -> bool:
        """Does the next byte start an HTTP chunk? `data` is what was fed last."""
        # The end of line shows that `data` does not end within the line with the next chunk's size.
        return self._after_chunk and not self.complete and data.endswith(b"\n")

    def close(self) -> None:
        """The connection ended without an error: that may be the end of the response."""
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
        version = "1.1" if self._http_1_1 else self._parser.get_http_version()
        if self.status:
            return  # the head of a surplus response
        if status in (100, 102, 103):
            self.reusable = self._http_1_1 = False
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
        self._after_chunk = False

    def on_chunk_complete(self) -> None:
        self._after_chunk = True

    def on_message_complete(self) -> None:
        self.complete = self.complete or (self.status > 0 and self.failure is None)
