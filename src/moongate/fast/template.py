"""Chunks of our own that differ in a text and a number: the bytes around both are written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moongate.chat.items import Chunk
from moongate.payload import JsonObject, dumps

_HOLE: Final = "\x02the text\x03"


class Template:
    """`make` gives the payload for a text and a number; the number is written before the text. It is not kept: it may
    belong to whoever keeps the template."""

    __slots__ = ("_after", "_before", "_between")

    def __init__(self, make: Callable[[str, int], JsonObject]) -> None:
        hole = hole_in(make("", 0))
        before, _, self._after = Chunk.of(make(hole, 0)).encode().rpartition(dumps(hole)[1:-1])
        other = Chunk.of(make(hole, 1)).encode()
        at = next((at for at, (one, two) in enumerate(zip(before, other, strict=False)) if one != two), len(before))
        self._before, self._between = before[:at], before[at + 1 :]  # the number is one digit; there may be none

    def write(self, text: str, number: int) -> bytes:
        if not self._between:
            return self._before + dumps(text)[1:-1] + self._after
        return b"%b%d%b%b%b" % (self._before, number, self._between, dumps(text)[1:-1], self._after)


def hole_in(payload: JsonObject) -> str:
    """A text that does not occur in this payload, whatever the provider wrote into it."""
    hole, written = _HOLE, dumps(payload)
    while dumps(hole)[1:-1] in written:
        hole += hole
    return hole
