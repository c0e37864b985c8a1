"""Reads that are one HTTP chunk with one text event in it: forwarded without being read as HTTP or as an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moongate.wire.fast import TextMatcher

Forward = Callable[[bytes], None]
MOST_OPENINGS: Final = 256  # sizes of reads that a forwarder remembers
LONGEST_OPENING: Final = 1024  # bytes; a longer one is not remembered
MOST_REMEMBERED: Final = 16 * 1024  # bytes of a read, whose first line is remembered
# The first line of a chunk by the size of the read. Equal sizes have equal lines, so sharing them shares no state.
_LINES: Final[dict[int, bytes]] = {}


class ChunkForwarder:
    """Forwards events that the matcher accepts: the read as it is, framing included, or (`bare`) the text alone.

    The event is matched inside its framing: to take it out first would be a copy and a call more for every chunk.
    """

    __slots__ = ("_bare", "_forward", "_last", "_matcher", "_openings", "_prefix", "taken")

    def __init__(self, matcher: TextMatcher, forward: Forward, bare: bool = False) -> None:
        self._matcher = matcher.in_http_chunk()
        self._last = matcher.last
        self._prefix = matcher.prefix
        self._forward = forward
        self._openings: dict[int, bytes] = {}  # by the size of a read: how it begins, framing and prefix
        self._bare = bare
        self.taken = False  # something, since this was last set to False

    def take(self, data: bytes) -> bool:
        """True: it was forwarded. Only for a read that begins where an HTTP chunk begins."""
        opening = self._openings.get(len(data))
        if opening is None:
            opening = self._learn(data)
        text = self._matcher.text(data, opening) if opening else None
        if text is None:
            return False
        if text:
            self._last.text = text
            if self._last.keep is not None:
                self._last.keep(text)
        self._forward(text if self._bare else data)
        self.taken = True
        return True

    def _learn(self, data: bytes) -> bytes:
        """How this read begins if it is one HTTP chunk with the prefix: such reads of one size all begin alike."""
        line = _LINES.get(len(data)) or first_line(len(data))
        start = len(line)
        if not line or not (data.startswith(line) or data[:start].lower() == line):
            return b""
        opening = data[:start] + self._prefix
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
