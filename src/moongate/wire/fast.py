"""The one test of the fast path: are these bytes `prefix text suffix`, with a text that nobody has to read?

Most events of a stream differ in their text alone. The session asks this of an event, the chunk forwarder of an event
inside an HTTP chunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from moongate.wire.frames import LF

# The inside of a JSON string, written so that no byte of it means another character than itself: `\u00..` may be any
# ASCII character, a surrogate may be half of one. Text with those is parsed.
ESCAPE: Final = rb'\\(?:["\\/bfnrt]|u(?!00|[dD][89a-fA-F])[0-9a-fA-F]{4})'
UNESCAPED: Final = bytes(code for code in range(0x20, 0x100) if code not in b'"\\')
JSON_TEXT: Final = re.compile(rb'(?:[^"\\\x00-\x1f]++|' + ESCAPE + rb")*+")
_ASCII: Final = bytes(range(0x80))


class LastText:
    """The last text that passed unread, still escaped; nothing if there is none. `keep` wants all of them."""

    __slots__ = ("keep", "text")

    def __init__(self, keep: Callable[[bytes], None] | None = None) -> None:
        self.text = b""
        self.keep = keep


class TextMatcher:
    """Events that are `prefix text suffix`, `limit` bytes at most, with none of the bytes `stops` in the text.

    Without `stops` (None) the text may be anything on one line, and is not checked to be the inside of a JSON string.
    """

    __slots__ = ("_checks", "_end", "_limit", "_longest", "_odd", "_ordinary", "_stops", "_suffix", "last", "prefix")

    def __init__(
        self, prefix: bytes, suffix: bytes, stops: bytes | None, limit: int, last: LastText | None = None
    ) -> None:
        self.prefix = prefix
        self.last = LastText() if last is None else last  # written by whoever lets a text pass
        self._suffix = suffix
        self._end = -len(suffix)
        self._stops = stops or b""
        self._checks = stops is not None
        self._limit = limit
        self._longest = limit - len(prefix) - len(suffix)
        self._ordinary, self._odd = _tables(stops)

    def in_http_chunk(self) -> TextMatcher:
        """The same for an event in an HTTP chunk of its own, whose first line is then part of `opening`."""
        stops = self._stops if self._checks else None
        return TextMatcher(self.prefix, self._suffix + b"\r\n", stops, self._limit + 2, self.last)

    def text(self, data: bytes, opening: bytes) -> bytes | None:
        """The text, still escaped, if `data` is `opening text suffix` and the text is as it must be; else None."""
        if not (data.startswith(opening) and data.endswith(self._suffix)):
            return None
        start = len(opening)
        size = len(data) - start + self._end
        if size > self._longest or size < 0:  # the two ends may overlap
            return None
        text = data[start : self._end]
        if LF in text:  # several events
            return None
        return None if 1 in text.translate(self._odd) and not self._accepts(text) else text

    def _accepts(self, text: bytes) -> bool:
        """The same for a text with bytes that are not ordinary."""
        odd = text.translate(None, self._ordinary)
        return odd.translate(None, self._stops) == odd and is_json_text(text, odd)


def is_json_text(text: bytes, odd: bytes, pattern: re.Pattern[bytes] = JSON_TEXT) -> bool:
    """Is it the inside of a JSON string? `odd` is what of it needs to be looked at."""
    if odd and pattern.fullmatch(text) is None:
        return False
    if text.isascii():
        return True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@cache
def _tables(stops: bytes | None) -> tuple[bytes, bytes]:
    """ASCII that JSON writes as it is, without `stops`; and a table for `translate` that marks all other bytes.

    `1 in text.translate(table)` is the quickest way to find one.
    """
    if stops is None:
        return b"", bytes(0x100)
    ordinary = _ASCII.translate(None, _ASCII.translate(None, UNESCAPED) + stops)
    return ordinary, bytes(code not in ordinary for code in range(0x100))
