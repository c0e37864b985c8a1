"""Text chunks of one mould through one choice: neither are their payloads parsed, nor are ours built."""

from __future__ import annotations

from collections.abc import Sequence

from moongate.chat.items import Chunk
from moongate.chat.mould import Mould, Template, TemplateChunk, TextChunk
from moongate.kimi.calls import Call
from moongate.kimi.choice import Told
from moongate.kimi.pieces import Text
from moongate.kimi.stream import StreamedChoice
from moongate.payload import JsonObject


class MouldedChoice:
    """Gives, byte for byte, what the exchange would have made of each chunk's payload."""

    __slots__ = ("_arguments", "_call", "_choice", "_text", "mould")

    def __init__(self, choice: StreamedChoice, mould: Mould) -> None:
        self.mould = mould
        self._choice = choice
        self._text: Template | None = None
        self._call: Call | None = None  # whose arguments the templates tell
        self._arguments: list[Template | None] = [None, None]  # first of its chunk, later in it

    def feed(self, chunk: TextChunk) -> Sequence[Chunk]:
        told = self._choice.say(self.mould.field, chunk.text)
        if told is None:
            return (chunk,)
        return [self._chunk(each, at == 0) for at, each in enumerate(told)]

    def _chunk(self, told: Told, first: bool) -> Chunk:
        if isinstance(told, tuple):
            return TemplateChunk(self._of_call(told[0], first), told[1])
        if first and isinstance(told, Text) and self._choice.delta(told).keys() == {self.mould.field}:
            self._text = self._text or Template(lambda text: self._payload({self.mould.field: text}, True))
            return TemplateChunk(self._text, told.text)
        return Chunk.of(self._payload(self._choice.delta(told), first))

    def _of_call(self, call: Call, first: bool) -> Template:
        if call is not self._call:
            self._call, self._arguments = call, [None, None]
        template = self._arguments[first]
        if template is None:
            template = Template(lambda text: self._payload(self._choice.delta((call, text)), first))
            self._arguments[first] = template
        return template

    def _payload(self, delta: JsonObject, first: bool) -> JsonObject:
        """The payload of a chunk; the first one keeps what else the provider's chunk has."""
        sample = self.mould.sample
        choice = {**sample["choices"][0], "delta": delta} if first else self._choice.bare(delta)
        return {**sample, "choices": [choice]}
