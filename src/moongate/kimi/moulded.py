"""Text chunks of one mould through one choice: neither are their payloads parsed, nor are ours built."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from moongate.chat.items import Chunk
from moongate.chat.mould import Mould, Template, TemplateChunk, TextChunk
from moongate.kimi.choice import Told
from moongate.kimi.pieces import Text
from moongate.kimi.stream import StreamedChoice
from moongate.payload import JsonObject


class MouldedChoice:
    """Gives, byte for byte, what the exchange would have made of each chunk's payload."""

    __slots__ = ("_arguments", "_choice", "_text", "mould")

    def __init__(self, choice: StreamedChoice, mould: Mould) -> None:
        self.mould = mould
        self._choice = choice
        self._text: Template | None = None
        self._arguments: list[Template | None] = [None, None]  # later in its chunk, first of it

    def feed(self, chunk: TextChunk) -> Sequence[Chunk]:
        told = self._choice.say(self.mould.field, chunk.text)
        if told is None:
            return (chunk,)
        if len(told) == 1:
            return (self._chunk(told[0], True),)
        return [self._chunk(each, at == 0) for at, each in enumerate(told)]

    def _chunk(self, told: Told, first: bool) -> Chunk:
        if isinstance(told, tuple):
            template = self._arguments[first]
            if template is None:
                template = self._arguments[first] = Template(partial(self._call_payload, first))
            return TemplateChunk(template, told[1], told[0].index)
        if first and isinstance(told, Text) and self._choice.delta(told).keys() == {self.mould.field}:
            if self._text is None:
                self._text = Template(self._text_payload)
            return TemplateChunk(self._text, told.text)
        return Chunk.of(self._payload(self._choice.delta(told), first))

    def _text_payload(self, text: str, _: int) -> JsonObject:
        return self._payload({self.mould.field: text}, True)

    def _call_payload(self, first: bool, text: str, index: int) -> JsonObject:
        return self._payload({"tool_calls": [{"index": index, "function": {"arguments": text}}]}, first)

    def _payload(self, delta: JsonObject, first: bool) -> JsonObject:
        """The payload of a chunk; the first one keeps what else the provider's chunk has."""
        sample = self.mould.sample
        choice = {**sample["choices"][0], "delta": delta} if first else self._choice.bare(delta)
        return {**sample, "choices": [choice]}
