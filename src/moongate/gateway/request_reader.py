"""One client request after another, read from bytes. Pure: no socket, no clock.

httptools (llhttp in its strict mode) knows the grammar; this class adds the limits and is
strict where servers and proxies have been talked into disagreeing about where a request ends.
A client sends the same head again and again but for its Content-Length, so a head that has
passed all this is remembered, and the next one like it costs a comparison, on another
connection a look into a dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

import httptools

from moongate.gateway.bounds import Bounds
from moongate.gateway.head_faults import Headers, fault_of
from moongate.wire.frames import CR

Known = dict[tuple[bytes, ...], "Head"]

MAX_KNOWN: Final = 512  # heads
MAX_KNOWN_SIZE: Final = 4096  # bytes of one
MAX_DIGITS: Final = 9  # of a length that is recognised
LENGTH: Final = re.compile(rb"\r\ncontent-length: ([0-9]{1,%d})\b" % MAX_DIGITS, re.IGNORECASE)
CONTINUE: Final = (b"expect", b"100-continue")


@dataclass(frozen=True, slots=True)
class Head:
    """What a request says before its body. Header names are lower-case.

    `fields` are the headers by name, without the Content-Length, in which requests with this head may differ.
    """

    method: str
    path: str
    raw_path: bytes
    query: bytes
    headers: Headers
    fields: Mapping[bytes, bytes]
    modern: bool  # HTTP/1.1, else 1.0
    keep_alive: bool
    expects_continue: bool


class RequestReader:
    """`feed` gives the body's bytes; when `head` is set, `headers` and `length` are those of this request.

    Bytes that come after a complete request are not read: they are counted in `surplus`.
    `failure` is a status and a message; a failed reader stays failed.
    """

    def __init__(self, bounds: Bounds, known: Known) -> None:
        self._bounds = bounds
        self._known = known
        self._last: Head | None = None  # the last that was recognised here, with what stands around its length
        self._before = self._behind = b""
        self._parser = httptools.HttpRequestParser(self)
        self._body: list[bytes] = []
        self.failure: tuple[int, str] | None = None
        self.surplus = 0
        self.reset()

    def reset(self) -> None:
        """Be ready for the next request. Only after a complete one without surplus."""
        self.head: Head | None = None
        self._length: bytes | None = None  # its Content-Length, as it came
        self._headers: Headers = []
        self.complete = False
        self.begun = False  # part of a request is here
        self._url = self._opening = b""  # the opening begins with the request line
        self._raw = 0  # bytes of a body that the parser does not read
        self._head_size = self._body_size = self._barren = 0

    @property
    def headers(self) -> Headers:
        """Those of this request, the Content-Length last."""
        if self.head is None:
            return self._headers
        if self._length is None:
            return self.head.headers.copy()
        return [*self.head.headers[:-1], (b"content-length", self._length)]

    @property
    def length(self) -> int | None:
        """Of the body, if the head says it."""
        return None if self._length is None else int(self._length)

    def feed(self, data: bytes) -> bytes:
        """Read on. Gives the body bytes that came."""
        if self.complete:
            self.surplus += len(data)
            return b""
        if self._raw:
            self._read_raw(data)
        else:
            if not self.begun and (body := self._recognise(data)) is not None:
                return body
            self._parse(data)
        return self._taken(len(data))

    def _recognise(self, data: bytes) -> bytes | None:
        """The body of a whole request whose head is known but for its Content-Length; None if it is not that."""
        if self._last is not None and data.startswith(self._before):
            start = len(self._before)
            end = data.find(b"\r", start, start + MAX_DIGITS + 1)
            if end > start and data.startswith(self._behind, end) and (digits := data[start:end]).isdigit():
                return self._recognised(self._last, digits, data[end + len(self._behind) :])
        end = data.find(b"\r\n\r\n")
        if not 0 < end < MAX_KNOWN_SIZE:
            return None
        length = LENGTH.search(data, 0, end)
        head = self._known.get(_likeness(data, end, length))
        if head is None:
            return None
        if length is None:
            return self._recognised(head, None, data[end + 4 :])
        if data[length.end(1)] == CR:
            self._last, self._before, self._behind = head, data[: length.start(1)], data[length.end(1) : end + 4]
        return self._recognised(head, length[1], data[end + 4 :])

    def _recognised(self, head: Head, length: bytes | None, body: bytes) -> bytes | None:
        """The body, if it is whole and not too large."""
        size = 0 if length is None else int(length)
        if len(body) != size or size > self._bounds.max_body:
            return None
        self.begun = self.complete = True
        self.head = head
        self._length = length
        return body

    def _remember(self, data: bytes) -> None:
        """Know the head, if it came in one piece with nothing unusual in it, the next time."""
        end = data.find(b"\r\n\r\n")
        head = self.head
        if head is None or end >= MAX_KNOWN_SIZE or not (head.modern and head.keep_alive) or head.expects_continue:
            return
        length = LENGTH.search(data, 0, end)
        framing = [name for name, _ in head.headers if name in (b"content-length", b"transfer-encoding")]
        if len(framing) == (length is not None) and data.startswith(head.method.encode()):
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[_likeness(data, end, length)] = head

    def _parse(self, data: bytes) -> None:
        fresh = not self.begun
        if self.head is None and b"\n" not in self._opening:
            self._opening = (self._opening + data).lstrip(b"\r\n")
            self.begun = self._opening != b""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail(400, "The request is not valid HTTP")
        except httptools.HttpParserUpgrade as upgrade:
            self._read_raw(data[upgrade.args[0] :])
        if fresh and self.head is not None and self.failure is None:
            self._remember(data)

    def _read_raw(self, data: bytes) -> None:
        if self.head is not None:
            body = data[: self._raw]
            if len(data) > self._raw:
                self.surplus += len(data[self._raw :].lstrip(b"\r\n"))
            self._raw -= len(body)
            self.complete = not self._raw
            if body:
                self._body.append(body)

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

    def _fail(self, status: int, message: str) -> None:
        if self.failure is None:
            self.failure = (status, message)

    # httptools calls what follows.

    def on_message_begin(self) -> None:
        if self.complete:
            self.surplus += 1

    def on_url(self, data: bytes) -> None:
        if self.head is None:
            self._url += data

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value) + 4
        if self._head_size > self._bounds.max_head or len(self._headers) >= self._bounds.max_headers:
            self._fail(431, "The head of the request is too large")
        elif self.head is None:  # trailers are dropped
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self.head is not None or self.failure is not None:
            return
        parser, method, url = self._parser, self._parser.get_method(), self._url
        modern = parser.get_http_version() == "1.1"
        headers = self._headers
        fault = fault_of(self._opening, method, url, headers, modern=modern)
        if fault:
            self._fail(400, fault)
            return
        framing = dict(headers)
        keep_alive = modern and parser.should_keep_alive()
        if parser.should_upgrade():
            # No protocol is switched to: the wish is ignored, and the connection not used again.
            keep_alive = False
            if b"transfer-encoding" in framing:
                self._fail(400, "A request for an upgrade must have a Content-Length")
            self._raw = int(framing.get(b"content-length", b"0"))
        # The length comes last, where that of the next request like this one can take its place.
        headers.sort(key=_is_length)
        self._length = framing.pop(b"content-length", None)
        raw_path, _, query = url.partition(b"?")
        path = raw_path.decode("ascii")
        self.head = Head(
            method.decode("ascii"),
            unquote(path) if "%" in path else path,
            raw_path,
            query,
            headers,
            framing,
            modern,
            keep_alive,
            modern and CONTINUE in headers,
        )

    def on_body(self, data: bytes) -> None:
        if self.head is not None and not self.complete:
            self._body.append(data)

    def on_message_complete(self) -> None:
        self.complete = self.complete or (self.head is not None and not self._raw)


def _is_length(header: tuple[bytes, bytes]) -> bool:
    return header[0] == b"content-length"


def _likeness(data: bytes, end: int, length: re.Match[bytes] | None) -> tuple[bytes, ...]:
    """What two heads have in common that differ in the value of their Content-Length alone."""
    return (data[:end],) if length is None else (data[: length.start(1)], data[length.end(1) : end])
