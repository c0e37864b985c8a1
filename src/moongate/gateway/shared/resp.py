"""RESP2, the protocol of Redis and Valkey: commands as bytes, and a parser for replies. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

MAX_REPLY: Final = 16 << 20  # bytes of replies that have not come to their end
_SIZES: Final = [b"$%d\r\n" % size for size in range(64)]  # before an argument
_MORE: Final = object()  # a reply goes on in bytes that have not come


class ReplyError(Exception):
    """An error that the server has answered a command with."""

    @property
    def comes_again(self) -> bool:
        """Is it the command that is wrong? Else the server is full, a replica, or not ready yet."""
        return str(self).startswith(("ERR", "WRONGTYPE"))


class BadReply(Exception):
    """The reply is not RESP: the server is no Redis."""


Reply: TypeAlias = "int | str | bytes | ReplyError | list[Reply] | None"


def command(*parts: bytes | str | int) -> bytes:
    """One command, ready to be sent."""
    return b"*%d\r\n%b" % (len(parts), arguments(parts))


def arguments(parts: Sequence[bytes | str | int]) -> bytes:
    """A part of a command."""
    pieces: list[bytes] = []
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        size = len(data)
        pieces += (_SIZES[size] if size < len(_SIZES) else b"$%d\r\n" % size, data, b"\r\n")
    return b"".join(pieces)


class ReplyParser:
    """`feed(data)` gives the replies that are complete. Raises BadReply."""

    __slots__ = ("_at", "_data")

    def __init__(self) -> None:
        self._data = b""
        self._at = 0

    def feed(self, data: bytes) -> list[Reply]:
        self._data = data if not self._data else self._data + data
        replies: list[Reply] = []
        start = 0
        while start < len(self._data):
            self._at = start
            reply = self._reply()
            if reply is _MORE:
                break
            replies.append(reply)  # type: ignore[arg-type]  # anything but _MORE
            start = self._at
        self._data = self._data[start:]
        if len(self._data) > MAX_REPLY:
            raise BadReply(f"a reply of more than {MAX_REPLY} bytes")
        return replies

    def _reply(self) -> object:
        end = self._data.find(b"\r\n", self._at)
        if end < 0:
            return _MORE
        kind, line = self._data[self._at : self._at + 1], self._data[self._at + 1 : end]
        self._at = end + 2
        if kind == b":":
            return _integer(line)
        if kind == b"+":
            return line.decode("utf-8", "replace")
        if kind == b"-":
            return ReplyError(line.decode("utf-8", "replace"))
        if kind == b"$":
            return self._bulk(_integer(line))
        if kind == b"*":
            return self._array(_integer(line))
        raise BadReply(f"a reply that begins with {kind!r}")

    def _bulk(self, size: int) -> object:
        if size < 0:
            return None
        start, end = self._at, self._at + size
        if len(self._data) < end + 2:
            return _MORE
        self._at = end + 2
        return self._data[start:end]

    def _array(self, size: int) -> object:
        if size < 0:
            return None
        found: list[object] = []
        for _ in range(size):
            each = self._reply()
            if each is _MORE:
                return _MORE
            found.append(each)
        return found


def _integer(line: bytes) -> int:
    try:
        return int(line)
    except ValueError:
        raise BadReply(f"{line[:40]!r} where a number was expected") from None
