"""Request heads that were parsed before, recognised by their bytes. Exists only for speed; pure.

A client sends the same head again and again but for its Content-Length. A head that has passed the parser and all
checks is remembered; the next one like it costs a comparison on the same connection, a lookup on another.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.gateway.server.request_head import RequestHead
from moongate.wire.frames import CR

MAX_KNOWN: Final = 512  # heads
MAX_KNOWN_SIZE: Final = 4096  # bytes of one
MAX_DIGITS: Final = 9  # of a length that is recognised
LENGTH: Final = re.compile(rb"\r\ncontent-length: ([0-9]{1,%d})\b" % MAX_DIGITS, re.IGNORECASE)

KnownHeads = dict[tuple[bytes, ...], RequestHead]  # shared by the connections of a worker
Recognised = tuple[RequestHead, bytes | None, bytes]  # the head, its Content-Length as it came, what follows it


class HeadRecogniser:
    """One connection's view of the known heads: it tries the last one that was recognised here first."""

    __slots__ = ("_after", "_before", "_known", "_last")

    def __init__(self, known: KnownHeads) -> None:
        self._known = known
        self._last: RequestHead | None = None
        self._before = self._after = b""  # the bytes around its Content-Length

    def recognise(self, data: bytes) -> Recognised | None:
        """The head that these bytes begin with, if it is known but for its Content-Length."""
        if self._last is not None and data.startswith(self._before):
            start = len(self._before)
            end = data.find(b"\r", start, start + MAX_DIGITS + 1)
            if end > start and data.startswith(self._after, end) and (digits := data[start:end]).isdigit():
                return self._last, digits, data[end + len(self._after) :]
        end = data.find(b"\r\n\r\n")
        if not 0 < end < MAX_KNOWN_SIZE:
            return None
        length = LENGTH.search(data, 0, end)
        head = self._known.get(_likeness(data, end, length))
        if head is None:
            return None
        if length is None:
            return head, None, data[end + 4 :]
        if data[length.end(1)] == CR:
            self._last, self._before, self._after = head, data[: length.start(1)], data[length.end(1) : end + 4]
        return head, length[1], data[end + 4 :]

    def remember(self, head: RequestHead, data: bytes) -> None:
        """Recognise the head the next time, if it came in one piece and has nothing unusual in it."""
        end = data.find(b"\r\n\r\n")
        if end >= MAX_KNOWN_SIZE or not (head.is_http_1_1 and head.keep_alive) or head.expects_continue:
            return
        length = LENGTH.search(data, 0, end)
        framing = [name for name, _ in head.headers if name in (b"content-length", b"transfer-encoding")]
        if len(framing) == (length is not None) and data.startswith(head.method.encode()):
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[_likeness(data, end, length)] = head


def _likeness(data: bytes, end: int, length: re.Match[bytes] | None) -> tuple[bytes, ...]:
    """What two heads have in common that differ in the value of their Content-Length alone."""
    return (data[:end],) if length is None else (data[: length.start(1)], data[length.end(1) : end])
