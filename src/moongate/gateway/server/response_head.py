"""The head of a response as bytes, and the response to a request that never reaches the application. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from moongate.payload import dumps

STATUS_LINE: Final = {code: b"HTTP/1.1 %d \r\n" % code for code in range(200, 600)} | {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
# Status, message and kind of errors that the application does not answer.
INTERNAL_ERROR: Final = (500, "Internal server error", "server_error")
SHUTTING_DOWN: Final = (503, "The server is going down", "overloaded_error")
TOO_MANY_CONNECTIONS: Final = (429, "Too many connections from this address", "rate_limit_error")
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_ERROR: Final = (
    b"content-type: application/json\r\nx-request-id: req_%b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
)


def encode_head(
    status: int, date: bytes, framing: bytes, headers: Iterable[tuple[bytes, bytes]], *, close: bool
) -> bytes | None:
    """Status line and headers. `date` and `framing` are lines of it, the latter may be empty.

    None if a header holds a line break or a NUL byte: it would let whoever chose its value write a response.
    """
    parts = [STATUS_LINE[status], date, framing]
    lines = 3 if framing else 2
    for name, value in headers:
        parts += (name, b": ", value, b"\r\n")
        lines += 1
    if close:
        parts.append(b"connection: close\r\n")
        lines += 1
    parts.append(b"\r\n")
    head = b"".join(parts)
    return None if head.count(b"\n") > lines + 1 or 0 in head else head


def encode_error(status: int, date: bytes, message: str, kind: str) -> bytes:
    """A whole response with an error in OpenAI's form, after which the connection is closed."""
    body = dumps({"error": {"message": message, "type": kind, "param": None, "code": None}})
    return STATUS_LINE[status] + date + _ERROR % (secrets.token_hex(8).encode(), len(body), body)
