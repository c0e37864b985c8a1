"""Text chunks of one mould through one choice: neither are their payloads parsed, nor are ours built."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from moongate.chat.items import Chunk, LazyChunk
from moongate.chat.mould import Mould, TextChunk
from moongate.chat.template import Template, TemplateChunk, hole_in
from moongate.kimi.call import ToldCall, call_object
from moongate.kimi.choice import Told
from moongate.kimi.pieces import Text
from moongate.kimi.stream import StreamedChoice, arguments_delta, begin_delta
from moongate.payload import JsonObject, dumps


class MouldedChoice:
    """Gives, byte for byte, what the exchange would have made of each chunk's payload."""

    __slots__ = ("_arguments", "_choice", "_openings", "_text", "mould")

    def __init__(self, choice: StreamedChoice, mould: Mould) -> None:
        self.mould = mould
        self._choice = choice
        self._text: Template | None = None
        self._arguments: list[Template | None] = [None, None]  # later in its chunk, first of it
        self._openings: tuple[bytes, bytes] | None = None  # the same for whole calls, with holes

    def feed(self, chunk: TextChunk) -> Sequence[Chunk]:
        told = self._choice.say(self.mould.field, chunk.text)
        if told is None:
            return (chunk,)
        if len(told) == 1:
            return self._chunks(told[0], True)
        return [each for at, one in enumerate(told) for each in self._chunks(one, at == 0)]

    def _chunks(self, told: Told, first: bool) -> tuple[Chunk, ...]:
        if isinstance(told, tuple):
            template = self._arguments[first]
            if template is None:
                template = self._arguments[first] = Template(partial(self._call_payload, first))
            return (TemplateChunk(template, told[1], told[0].index),)
        if isinstance(told, list):
            return (CallsChunk(self, told, first),)
        (delta,) = self._choice.deltas(told)
        if first and isinstance(told, Text) and delta.keys() == {self.mould.field}:
            if self._text is None:
                self._text = Template(self._text_payload)
            return (TemplateChunk(self._text, told.text),)
        return (Chunk.of(self.payload(delta, first)),)

    def _text_payload(self, text: str, _: int) -> JsonObject:
        return self.payload({self.mould.field: text}, True)

    def _call_payload(self, first: bool, text: str, index: int) -> JsonObject:
        return self.payload(arguments_delta(index, text), first)

    def payload(self, delta: JsonObject, first: bool) -> JsonObject:
        """The payload of a chunk; the first one keeps what else the provider's chunk has."""
        sample = self.mould.sample
        choice = {**sample["choices"][0], "delta": delta} if first else self._choice.bare(delta)
        return {**sample, "choices": [choice]}

    def write(self, calls: list[ToldCall], first: bool) -> bytes:
        """Two events for each of these whole calls: it begins, and all of its arguments."""
        if self._openings is None:
            self._openings = (self._with_holes(False), self._with_holes(True))
        event = self._openings[0]
        names = {name: dumps(name) for name in {call[2] for call in calls}}
        parts = [
            event % (index, dumps(id_), names[name], index, dumps(arguments)) for index, id_, name, arguments in calls
        ]
        if first:
            index, id_, name, arguments = calls[0]
            parts[0] = self._openings[1] % (index, dumps(id_), names[name], index, dumps(arguments))
        return b"".join(parts)

    def _with_holes(self, first: bool) -> bytes:
        """Both events of a whole call, to be filled with its index, id, name, index and arguments."""
        hole = hole_in(self.payload({}, True))
        index, id_, name, text = (hole + what for what in ("index", "id", "name", "arguments"))
        begin, more = begin_delta(0, id_, name), arguments_delta(0, text)
        for delta in (begin, more):
            delta["tool_calls"][0]["index"] = index
        events = Chunk.of(self.payload(begin, first)).encode() + Chunk.of(self.payload(more, False)).encode()
        events = events.replace(b"%", b"%%").replace(dumps(index), b"%d")
        for hole in (id_, name, text):
            events = events.replace(dumps(hole), b"%b")
        return events


class CallsChunk(LazyChunk):
    """Whole calls of our own: one delta to be read, written as two events for each call (section 5.10)."""

    __slots__ = ("_calls", "_first", "_made_by")

    def __init__(self, made_by: MouldedChoice, calls: list[ToldCall], first: bool) -> None:
        self._made_by = made_by
        self._calls = calls
        self._first = first
        self.raw = None

    def encode(self) -> bytes:
        return self._made_by.write(self._calls, self._first)

    def make_payload(self) -> JsonObject:
        entries = [{"index": call[0], **call_object(*call[1:])} for call in self._calls]
        return self._made_by.payload({"tool_calls": entries}, self._first)
