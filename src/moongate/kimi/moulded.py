"""Text chunks of one mould through one choice: neither are their payloads parsed, nor are ours built."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from moongate.chat.items import Chunk, LazyChunk
from moongate.chat.mould import Mould, TextChunk
from moongate.chat.template import Template, TemplateChunk, hole_in
from moongate.kimi.call import ToldCalls, call_object
from moongate.kimi.choice import Told
from moongate.kimi.pieces import Text
from moongate.kimi.stream import StreamedChoice, arguments_delta, begin_delta
from moongate.payload import JsonObject, dumps, dumps_inside


class MouldedChoice:
    """Gives, byte for byte, what the exchange would have made of each chunk's payload."""

    __slots__ = ("_arguments", "_choice", "_openings", "_text", "mould")

    def __init__(self, choice: StreamedChoice, mould: Mould) -> None:
        self.mould = mould
        self._choice = choice
        self._text: Template | None = None
        self._arguments: list[Template | None] = [None, None]  # later in its chunk, first of it
        self._openings: tuple[list[bytes], list[bytes]] | None = None  # the same for whole calls, see `write`

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
        if isinstance(told, ToldCalls):
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

    def write(self, calls: ToldCalls, first: bool) -> bytes:
        """Two events for each of these whole calls: it begins, and all of its arguments."""
        if self._openings is None:
            self._openings = (self._around_holes(False), self._around_holes(True))
        start, before_id, before_name, behind_name, before_text, end = self._openings[0]
        names = {name: before_name + dumps(name)[1:-1] + behind_name for name in set(calls.names)}
        texts = {text: before_text + dumps(text)[1:-1] + end for text in set(calls.arguments)}
        size = len(calls.ids)
        parts = [start, b"", before_id, b"", b"", b"", b""] * size
        parts[1::7] = parts[5::7] = dumps(list(range(calls.first, calls.first + size)))[1:-1].split(b",")
        parts[3::7] = dumps_inside(calls.ids)
        parts[4::7] = list(map(names.__getitem__, calls.names))
        parts[6::7] = list(map(texts.__getitem__, calls.arguments))
        if first:
            parts[0], parts[2], before_name, behind_name, _, _ = self._openings[1]
            parts[4] = before_name + dumps(calls.names[0])[1:-1] + behind_name
        return b"".join(parts)

    def _around_holes(self, first: bool) -> list[bytes]:
        """Both events of a whole call, without its index, its id, its name, its index again and its arguments."""
        hole = hole_in(self.payload({}, True))
        index = hole + "index"
        begin, more = begin_delta(0, hole, hole), arguments_delta(0, hole)
        for delta in (begin, more):
            delta["tool_calls"][0]["index"] = index
        events = Chunk.of(self.payload(begin, first)).encode() + Chunk.of(self.payload(more, False)).encode()
        inside = dumps(hole)[1:-1]
        return events.replace(dumps(index), inside).split(inside)


class CallsChunk(LazyChunk):
    """Whole calls of our own: one delta to be read, written as two events for each call (section 5.10)."""

    __slots__ = ("_calls", "_first", "_made_by")

    def __init__(self, made_by: MouldedChoice, calls: ToldCalls, first: bool) -> None:
        self._made_by = made_by
        self._calls = calls
        self._first = first
        self.raw = None
        self._payload = None

    def encode(self) -> bytes:
        return self._made_by.write(self._calls, self._first)

    def make_payload(self) -> JsonObject:
        entries = [{"index": call[0], **call_object(*call[1:])} for call in self._calls]
        return self._made_by.payload({"tool_calls": entries}, self._first)
