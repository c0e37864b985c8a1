"""What a stream runs in for long: events that differ in nothing but an ordinary text and need no second look."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from moongate.chat.mould import ORDINARY, Mould, is_text
from moongate.wire.frames import LF, odd_bytes

_ASCII: Final = bytes(range(0x80))


class Groove:
    """While a session has one, an event that fits need not be fed: what leaves for it is `write(text)`, the text still
    as JSON wrote it. Without a `write` (None) it leaves as it is.

    It fits if it is `prefix text suffix`, not larger than `limit`, and its text is made of `ordinary` bytes, or
    `accepts` says so.
    """

    __slots__ = ("_begin", "_end", "_gate", "_least", "_odd", "limit", "ordinary", "prefix", "suffix", "write")

    def __init__(self, mould: Mould, gate: bytes, write: Callable[[bytes], bytes] | None = None) -> None:
        self.write = write
        self.prefix = mould.prefix
        self.suffix = mould.suffix
        self.limit = mould.limit
        self.ordinary = _ordinary(gate)
        self._odd = odd_bytes(self.ordinary)
        self._gate = gate
        self._begin, self._end = len(self.prefix), -len(self.suffix)
        self._least = len(self.prefix) + len(self.suffix)

    def text(self, event: bytes) -> bytes | None:
        """The text of an event that fits; None for anything else, several events too."""
        if not (event.startswith(self.prefix) and event.endswith(self.suffix)) or len(event) < self._least:
            return None
        text = event[self._begin : self._end]
        if LF in text:  # mostly several events, and their first end is near
            return None
        if len(event) > self.limit:
            return None
        if 1 in text.translate(self._odd) and not self.accepts(text, text.translate(None, self.ordinary)):
            return None
        return text

    def accepts(self, text: bytes, others: bytes) -> bool:
        """Does this text fit, though there are `others` in it than ordinary bytes?"""
        return others.translate(None, self._gate) == others and is_text(text, others)


@cache
def _ordinary(gate: bytes) -> bytes:
    """One byte, one character, which JSON spells like this and no transformer asks about."""
    return _ASCII.translate(None, _ASCII.translate(None, ORDINARY) + gate)
