"""The Date header as a line, rebuilt once a second."""

from __future__ import annotations

from typing import Final

Headers = list[tuple[bytes, bytes]]


class DateLine:
    """uvicorn makes a new list of default headers, which holds the date, once a second."""

    __slots__ = ("_line", "_source")

    def __init__(self) -> None:
        self._source: Headers | None = None
        self._line = b""

    def of(self, headers: Headers) -> bytes:
        if self._source is not headers:
            self._source = headers
            self._line = b"".join([b"%b: %b\r\n" % pair for pair in headers])
        return self._line


DATE_LINE: Final = DateLine()  # one for all connections
