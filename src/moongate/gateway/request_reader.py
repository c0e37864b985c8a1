"""One client request after another, read from bytes. Pure: no socket, no clock.

httptools (llhttp in its strict mode) knows the grammar; this class adds the limits and is
strict where servers and proxies have been talked into disagreeing about where a request ends.
"""

from __future__ import annotations

from typing import Final

import httptools

from moongate.gateway.bounds import Bounds

Headers = list[tuple[bytes, bytes]]

# Names that a careless peer takes for the headers that frame a request.
LOOKALIKES: Final = frozenset({b"content_length", b"transfer_encoding"})
CONTINUE: Final = (b"expect", b"100-continue")


class RequestReader:
    """`feed` gives the body's bytes; the head is there when `ready` is set.

    Bytes that come after a complete request are not read: they are counted in `surplus`.
    `failure` is a status and a message; a failed reader stays failed.
    """

    __slots__ = (
        "_barren",
        "_body",
        "_body_size",
        "_bounds",
        "_head_size",
        "_opening",
        "_parser",
        "_raw",
        "complete",
        "failure",
        "headers",
        "keep_alive",
        "method",
        "modern",
        "ready",
        "surplus",
        "url",
    )

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._parser = httptools.HttpRequestParser(self)
        self._body: list[bytes] = []
        self.method = b""
        self.modern = True  # HTTP/1.1, else 1.0
        self.keep_alive = True
        self.failure: tuple[int, str] | None = None
        self.surplus = 0
        self.reset()

    def reset(self) -> None:
        """Be ready for the next request. Only after a complete one without surplus."""
        self.url = b""
        self.headers: Headers = []  # lower-case names
        self.ready = False
        self.complete = False
        self._opening = b""  # begins with the request line
        self._raw = 0  # bytes of a body that the parser will not read
        self._head_size = self._body_size = self._barren = 0

    @property
    def begun(self) -> bool:
        """Part of a request is here."""
        return self._opening != b""

    def feed(self, data: bytes) -> bytes:
        """Read on. Gives the body bytes that came."""
        if self.complete:
            self.surplus += len(data)
            return b""
        if not self.ready and b"\n" not in self._opening:
            self._opening = (self._opening + data).lstrip(b"\r\n")
        try:
            if self._raw:
                self._read_raw(data)
            else:
                self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail(400, "The request is not valid HTTP")
        except httptools.HttpParserUpgrade as upgrade:
            self._read_raw(data[upgrade.args[0] :])
        return self._taken(len(data))

    def _taken(self, size: int) -> bytes:
        body = self._body
        if body:
            self._barren = 0
            data = body[0] if len(body) == 1 else b"".join(body)
            body.clear()
            self._body_size += len(data)
            if self._body_size > self._bounds.max_body:
                self._fail(413, "The body of the request is too large")
            return data
        self._barren += size
        if self._barren > self._bounds.max_head and not self.complete:
            self._fail(431, "The head of the request is too large")
        return b""

    def _read_raw(self, data: bytes) -> None:
        """Take the body of a request that asked for an upgrade: the parser stops at its head."""
        if self.ready:
            self._body.append(data[: self._raw])
            self.surplus += len(data[self._raw :])
            self._raw -= len(self._body[-1])
            self.complete = not self._raw

    def _fail(self, status: int, message: str) -> None:
        if self.failure is None:
            self.failure = (status, message)

    # httptools calls what follows.

    def on_message_begin(self) -> None:
        if self.complete:
            self.surplus += 1

    def on_url(self, data: bytes) -> None:
        if not self.ready:
            self.url += data

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value) + 4
        if self._head_size > self._bounds.max_head or len(self.headers) >= self._bounds.max_headers:
            self._fail(431, "The head of the request is too large")
        elif not self.ready:  # trailers are dropped
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self.ready or self.failure is not None:
            return
        parser = self._parser
        self.method = parser.get_method()
        self.modern = parser.get_http_version() == "1.1"
        fault = fault_of(self._opening, self.method, self.url, self.headers, modern=self.modern)
        if fault:
            self._fail(400, fault)
            return
        self.ready = True
        self.keep_alive = self.modern and parser.should_keep_alive()
        if parser.should_upgrade():
            # No protocol is switched to: the wish is ignored, and the connection not used again.
            self.keep_alive = False
            framing = dict(self.headers)
            if b"transfer-encoding" in framing:
                self._fail(400, "A request for an upgrade must have a Content-Length")
            self._raw = int(framing.get(b"content-length", b"0"))

    def on_body(self, data: bytes) -> None:
        if self.ready and not self.complete:
            self._body.append(data)

    def on_message_complete(self) -> None:
        self.complete = self.complete or (self.ready and not self._raw)


def fault_of(opening: bytes, method: bytes, url: bytes, headers: Headers, *, modern: bool) -> str:
    """What makes a head unacceptable that the parser has accepted, "" if nothing does.

    `opening` begins with the request line as it came. If not `modern`, anything but HTTP/1.0 is a fault.
    """
    # Other versions, other protocols, more than one space.
    if not opening.startswith(b"%b %b HTTP/1.%d\r" % (method, url, modern)):
        return "The request line is not valid"
    if url[:1] != b"/" or b"#" in url:
        return "The request target must be a path"
    hosts = codings = lengths = 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            lengths += 1
        elif name == b"transfer-encoding":
            codings += 1
            if not modern or value.lower() != b"chunked":
                return "The transfer coding must be chunked alone"
        elif name in LOOKALIKES:
            return "A header looks like one that frames the request"
    if hosts > 1 or (modern and not hosts):
        return "The request must have one Host header"
    if codings + lengths > 1:
        return "The request says more than once where it ends"
    return ""
