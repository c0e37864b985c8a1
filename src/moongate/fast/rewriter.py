"""Texts with markers in them, rewritten without JSON: the provider's chunks are not parsed, ours not built.

An agent's answer is full of markers, so most of its chunks cannot leave as they came. Their texts go through the
parser of the choice, and what comes out is written by template.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from moongate.chat.items import Chunk
from moongate.fast.envelope import ChunkEnvelope
from moongate.fast.template import Template, hole_in
from moongate.kimi.answer.call import EmittedCalls, call_object
from moongate.kimi.answer.call_deltas import arguments_delta, begin_delta
from moongate.kimi.answer.choice import Emitted
from moongate.kimi.answer.streamed_choice import StreamedChoice, is_same
from moongate.kimi.markers.pieces import Channel, Text
from moongate.payload import JsonObject, dumps, dumps_inside


class MadeChunk(ABC):
    """A chunk of our own, which is written as events or read as a payload, never both."""

    __slots__ = ()

    @abstractmethod
    def events(self) -> bytes: ...

    @abstractmethod
    def payload(self) -> JsonObject: ...


class TextRewriter:
    """Gives, byte for byte, what the exchange would have made of each text chunk of one envelope, which is bare."""

    __slots__ = ("_arguments", "_channel", "_choice", "_field", "_openings", "_sample", "_text")

    def __init__(self, choice: StreamedChoice, envelope: ChunkEnvelope) -> None:
        self._choice = choice
        self._field = envelope.field
        self._channel: Channel = "content" if envelope.field == "content" else "reasoning"
        self._sample = envelope.sample
        self._text: Template | None = None
        self._arguments: list[Template | None] = [None, None]  # later in its chunk, first of it
        self._openings: tuple[list[bytes], list[bytes]] | None = None  # the same for whole calls, see `write`

    @property
    def ready(self) -> bool:
        """Whether texts may be fed. Where a call has to leave before them, their chunks are read the plain way."""
        return not self._choice.waits_for_name

    def feed(self, text: str) -> Sequence[MadeChunk] | None:
        """What to send for a chunk with this text; None if the chunk is sent as it came."""
        emitted = self._read(text) if text else None
        if emitted is None:
            return None
        if len(emitted) == 1:
            return (self._made(emitted[0], True),)
        return [self._made(one, at == 0) for at, one in enumerate(emitted)]

    def _read(self, text: str) -> list[Emitted] | None:
        choice, channel = self._choice, self._channel
        if choice.parser is None or choice.finished:
            choice.watch(channel, text)
        else:
            pieces = choice.parser.feed(channel, text)
            if not is_same(pieces, channel, text):
                return choice.read(pieces) if pieces else []
        choice.remember(channel, text)
        return None

    def _made(self, emitted: Emitted, first: bool) -> MadeChunk:
        if isinstance(emitted, tuple):
            make = self._first_arguments if first else self._later_arguments
            template = self._arguments[first]
            if template is None:
                template = self._arguments[first] = Template(make)
            return TemplateChunk(template, make, emitted[1], emitted[0].index)
        if isinstance(emitted, EmittedCalls):
            return CallsChunk(self, emitted, first)
        (delta,) = self._choice.deltas(emitted)
        if first and isinstance(emitted, Text) and delta.keys() == {self._field}:
            if self._text is None:
                self._text = Template(self._text_payload)
            return TemplateChunk(self._text, self._text_payload, emitted.text, 0)
        return PayloadChunk(self.payload(delta, first))

    def _text_payload(self, text: str, _: int) -> JsonObject:
        return self.payload({self._field: text}, True)

    def _first_arguments(self, text: str, index: int) -> JsonObject:
        return self.payload(arguments_delta(index, text), True)

    def _later_arguments(self, text: str, index: int) -> JsonObject:
        return self.payload(arguments_delta(index, text), False)

    def payload(self, delta: JsonObject, first: bool) -> JsonObject:
        """The payload of a chunk; the first one keeps what else the provider's chunk has."""
        sample = self._sample
        choice = {**sample["choices"][0], "delta": delta} if first else self._choice.bare(delta)
        return {**sample, "choices": [choice]}

    def write(self, calls: EmittedCalls, first: bool) -> bytes:
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


class PayloadChunk(MadeChunk):
    """One for which there is no template."""

    __slots__ = ("_payload",)

    def __init__(self, payload: JsonObject) -> None:
        self._payload = payload

    def events(self) -> bytes:
        return Chunk.of(self._payload).encode()

    def payload(self) -> JsonObject:
        return self._payload


class TemplateChunk(MadeChunk):
    """One that a template writes."""

    __slots__ = ("_make", "_number", "_template", "_text")

    def __init__(self, template: Template, make: Callable[[str, int], JsonObject], text: str, number: int) -> None:
        self._template = template
        self._make = make
        self._text = text
        self._number = number

    def events(self) -> bytes:
        return self._template.write(self._text, self._number)

    def payload(self) -> JsonObject:
        return self._make(self._text, self._number)


class CallsChunk(MadeChunk):
    """Whole calls: one delta to be read, written as two events for each call (section 5.10)."""

    __slots__ = ("_calls", "_first", "_rewriter")

    def __init__(self, rewriter: TextRewriter, calls: EmittedCalls, first: bool) -> None:
        self._rewriter = rewriter
        self._calls = calls
        self._first = first

    def events(self) -> bytes:
        return self._rewriter.write(self._calls, self._first)

    def payload(self) -> JsonObject:
        entries = [{"index": call[0], **call_object(*call[1:])} for call in self._calls]
        return self._rewriter.payload({"tool_calls": entries}, self._first)
