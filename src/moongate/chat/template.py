"""Chunks of our own that differ in a text and a number: written by filling holes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moongate.chat.items import Chunk, LazyChunk
from moongate.payload import JsonObject, dumps

_HOLE: Final = "\x02the text\x03"


class Template:
    """Chunks of our own that differ in a text and a number: their envelope is written once.

    `make` gives the payload for a text and a number, which stands before the text.
    """

    __slots__ = ("_after", "_before", "_between", "make")

    def __init__(self, make: Callable[[str, int], JsonObject]) -> None:
        self.make = make
        hole = hole_in(make("", 0))
        before, _, self._after = Chunk.of(make(hole, 0)).encode().rpartition(dumps(hole)[1:-1])
        other = Chunk.of(make(hole, 1)).encode()
        at = next((at for at, (one, two) in enumerate(zip(before, other, strict=False)) if one != two), len(before))
        self._before, self._between = before[:at], before[at + 1 :]  # the number is one digit; there may be none

    def write(self, text: str, number: int) -> bytes:
        if not self._between:
            return self._before + dumps(text)[1:-1] + self._after
        return b"%b%d%b%b%b" % (self._before, number, self._between, dumps(text)[1:-1], self._after)


def hole_in(envelope: JsonObject) -> str:
    """A text that stands nowhere in this payload, whatever the provider wrote into it."""
    hole, written = _HOLE, dumps(envelope)
    while dumps(hole)[1:-1] in written:
        hole += hole
    return hole


class TemplateChunk(LazyChunk):
    """A chunk of our own, written by a template."""

    __slots__ = ("number", "template", "text")

    def __init__(self, template: Template, text: str, number: int = 0) -> None:
        self.template = template
        self.text = text
        self.number = number
        self.raw = None
        self._payload = None

    def encode(self) -> bytes:
        return self.template.write(self.text, self.number)

    def make_payload(self) -> JsonObject:
        return self.template.make(self.text, self.number)
