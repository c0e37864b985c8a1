"""The short way through a connection, for reads that are one HTTP chunk of a known make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moongate.wire.frames import odd_bytes

Forward = Callable[[bytes], None]
MOST_OPENINGS: Final = 256  # sizes of reads that a lane remembers
LONGEST_OPENING: Final = 1024  # bytes; a longer one is not remembered
MOST_REMEMBERED: Final = 16 * 1024  # bytes of a read, whose first line is remembered
_LINES: Final[
    dict[int, bytes]
] = {}  # by the size of a read; equal sizes have equal lines, so what is shared is no state


class Lane:
    """Takes what is `prefix text suffix` in one HTTP chunk, and forwards the read as it is, framing and all, or
    (`bare`) its text alone.

    The text must be made of `ordinary` bytes, or else `accepts(text, others)` decides. It is looked at where it stands:
    to take the event out of its framing first would be a copy and a call more for every chunk.
    """

    __slots__ = (
        *("_accepts", "_bare", "_end", "_forward", "_least", "_most", "_odd", "_openings", "_ordinary", "_prefix"),
        *("_suffix", "taken"),
    )

    def __init__(
        self,
        prefix: bytes,
        suffix: bytes,
        ordinary: bytes,
        accepts: Callable[[bytes, bytes], bool],
        forward: Forward,
        limit: int,
        bare: bool = False,
    ) -> None:
        self._prefix = prefix
        self._suffix = suffix + b"\r\n"
        self._ordinary = ordinary
        self._odd = odd_bytes(ordinary)
        self._accepts = accepts
        self._forward = forward
        self._openings: dict[int, bytes] = {}  # by the size of a read: how it begins, framing and prefix
        self._end = -len(self._suffix)
        self._least = len(prefix) + len(self._suffix)
        self._most = limit
        self._bare = bare
        self.taken = False  # something, since somebody set it to False

    def take(self, data: bytes) -> bool:
        """True: it was forwarded. Only for a read that begins where an HTTP chunk begins."""
        opening = self._openings.get(len(data))
        if opening is None or not data.startswith(opening):
            opening = self._learn(data)
        if not opening or not data.endswith(self._suffix):
            return False
        text = data[len(opening) : self._end]
        if 1 in text.translate(self._odd) and not self._accepts(text, text.translate(None, self._ordinary)):
            return False
        self._forward(text if self._bare else data)
        self.taken = True
        return True

    def _learn(self, data: bytes) -> bytes:
        """How this read begins, if it may be one that fits: such reads of one size all begin alike."""
        line = _LINES.get(len(data)) or first_line(len(data))
        start = len(line)
        if not line or not self._least <= len(data) - start <= self._most:
            return b""
        if not data.startswith(self._prefix, start) or not (data.startswith(line) or data[:start].lower() == line):
            return b""
        opening = data[: start + len(self._prefix)]
        if len(opening) <= LONGEST_OPENING:
            if len(self._openings) >= MOST_OPENINGS:
                self._openings.clear()
            self._openings[len(data)] = opening
        return opening


def first_line(size: int) -> bytes:
    """How a read of this size begins if it is one HTTP chunk; nothing if it cannot be.

    >>> first_line(len(b"5\\r\\nhello\\r\\n"))
    b'5\\r\\n'
    """
    for digits in range(1, 9):
        rest = size - digits - 4  # two ends of line
        line = b"%x\r\n" % rest if rest > 0 else b""
        if len(line) == digits + 2:
            if size <= MOST_REMEMBERED:
                _LINES[size] = line
            return line
    return b""
