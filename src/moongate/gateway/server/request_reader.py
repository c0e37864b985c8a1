"""One client request after another, read from bytes. Pure: no socket, no clock.

httptools (llhttp in its strict mode) knows the grammar; this class adds the limits and is strict where servers and
proxies have been made to disagree about where a request ends. Heads that were parsed before are recognised by their
bytes (`known_heads`), if that is switched on.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

import httptools

from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.head_faults import Headers, fault_of
from moongate.gateway.server.known_heads import HeadRecogniser, KnownHeads
from moongate.gateway.server.request_head import RequestHead

FRAMING_RATIO: Final = 16  # bytes of framing per byte of a body: chunks of one byte take 5, the rest are extensions
CONTINUE: Final = (b"expect", b"100-continue")


class RequestReader:
    """`feed` gives the body's bytes; when `head` is set, `headers` and `length` are those of this request.

    Bytes that come after a complete request are not read: they are counted in `surplus`.
    `failure` is a status and a message; a failed reader stays failed.
    """

    def __init__(self, limits: ConnectionLimits, known: KnownHeads | None) -> None:
        """Without `known` every head is parsed."""
        self._limits = limits
        self._recogniser = None if known is None else HeadRecogniser(known)
        self._parser = httptools.HttpRequestParser(self)
        self._body: list[bytes] = []
        self.failure: tuple[int, str] | None = None
        self.surplus = 0
        self.reset()

    def reset(self) -> None:
        """Be ready for the next request. Only after a complete one without surplus."""
        self.head: RequestHead | None = None
        self._length: bytes | None = None  # its Content-Length, as it came
        self._headers: Headers = []
        self.complete = False
        self.begun = False  # part of a request is here
        self._url = self._opening = b""  # the opening begins with the request line
        self._raw = 0  # bytes of a body that the parser does not read
        self._head_size = self._body_size = self._barren = self._framing = 0

    def forget(self) -> None:
        """Drop what the client sent: the connection is over, and its objects wait for the garbage collector."""
        self.head, self._headers, self._url, self._opening = None, [], b"", b""
        self._body.clear()

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
            if self._recogniser is not None and not self.begun and (body := self._recognise(data)) is not None:
                return body
            self._parse(data)
        return self._taken(len(data))

    def _recognise(self, data: bytes) -> bytes | None:
        """What is here of the body of a request whose head is known; None if it is not that, is too large, or too long.

        The parser does not read this request at all.
        """
        assert self._recogniser is not None
        found = self._recogniser.recognise(data)
        if found is None:
            return None
        head, length, body = found
        size = 0 if length is None else int(length)
        if len(body) > size or size > self._limits.max_body:
            return None
        self.begun = True
        self._body_size, self._raw = len(body), size - len(body)
        self.complete = not self._raw
        self.head = head
        self._length = length
        return body

    def _parse(self, data: bytes) -> None:
        fresh = not self.begun
        if self.head is None and b"\n" not in self._opening:
            opening = (self._opening + data if self._opening else data).lstrip(b"\r\n")
            self._opening = opening[: opening.find(b"\n") + 1] or opening
            self.begun = opening != b""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail(400, "The request is not valid HTTP")
        except httptools.HttpParserUpgrade as upgrade:
            self._read_raw(data[upgrade.args[0] :])
        if fresh and self._recogniser is not None and self.head is not None and self.failure is None:
            self._recogniser.remember(self.head, data)

    def _read_raw(self, data: bytes) -> None:
        if self.head is not None:
            body = data if len(data) <= self._raw else data[: self._raw]  # machine code copies what it slices
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
            self._count_framing(size - len(data))
            if self._body_size > self._limits.max_body:
                self._fail(413, "The body of the request is too large")
            return data
        self._barren += size
        self._count_framing(size)
        if self._barren > self._limits.max_head and not self.complete:
            self._fail(431, "The head of the request is too large")
        return b""

    def _count_framing(self, size: int) -> None:
        """Bytes that are no body. Behind a chunked body they count, too: where it ended is not known."""
        self._framing += size
        allowed = 2 * self._limits.max_head + FRAMING_RATIO * self._body_size
        if self._framing > allowed and self.head is not None and b"transfer-encoding" in self.head.fields:
            self._fail(400, "The chunk extensions of the request are too long")

    def _fail(self, status: int, message: str) -> None:
        if self.failure is None:
            self.failure = (status, message)

    # httptools calls what follows.

    def on_message_begin(self) -> None:
        if self.complete:
            self.surplus += 1

    def on_url(self, data: bytes) -> None:
        if self.head is not None:
            return
        if len(self._url) + len(data) > self._limits.max_url:
            self._fail(414, "The URL of the request is too long")
        else:
            self._url += data

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value) + 4
        if self._head_size > self._limits.max_head or len(self._headers) >= self._limits.max_headers:
            self._fail(431, "The head of the request is too large")
        elif self.head is None:  # trailers are dropped
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self.head is not None or self.failure is not None:
            return
        parser, method, url = self._parser, self._parser.get_method(), self._url
        is_http_1_1 = parser.get_http_version() == "1.1"
        headers = self._headers
        fault = fault_of(self._opening, method, url, headers, is_http_1_1=is_http_1_1)
        if fault:
            self._fail(400, fault)
            return
        framing = dict(headers)
        keep_alive = is_http_1_1 and parser.should_keep_alive()
        if parser.should_upgrade():
            # Upgrades are not supported: the request is answered without one, and the connection closes afterwards.
            keep_alive = False
            if b"transfer-encoding" in framing:
                self._fail(400, "A request for an upgrade must have a Content-Length")
            self._raw = int(framing.get(b"content-length", b"0"))
        # The length comes last, where that of the next request like this one can take its place.
        headers.sort(key=_is_length)
        self._length = framing.pop(b"content-length", None)
        raw_path, _, query = url.partition(b"?")
        path = raw_path.decode("ascii")
        self.head = RequestHead(
            method.decode("ascii"),
            unquote(path) if "%" in path else path,
            raw_path,
            query,
            headers,
            framing,
            is_http_1_1,
            keep_alive,
            is_http_1_1 and CONTINUE in headers,
        )

    def on_body(self, data: bytes) -> None:
        if self.head is not None and not self.complete:
            self._body.append(data)

    def on_message_complete(self) -> None:
        self.complete = self.complete or (self.head is not None and not self._raw)


def _is_length(header: tuple[bytes, bytes]) -> bool:
    return header[0] == b"content-length"
