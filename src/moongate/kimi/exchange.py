"""One request to a Kimi model and its answer."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any, Final

from moongate.chat.contracts import Note
from moongate.chat.items import Chunk, Done, Failure, Item, Stretch
from moongate.chat.mould import ENVELOPE, TextChunk
from moongate.chat.progress import choice_index
from moongate.errors import BadUpstream
from moongate.kimi.answer import Answer
from moongate.kimi.moulded import MouldedChoice
from moongate.kimi.stream import StreamedChoice
from moongate.kimi.usage import lift_usage
from moongate.kimi.whole import mended_choice
from moongate.payload import JsonObject

_NEEDLESS: Final = frozenset((*ENVELOPE, "choices"))


class KimiExchange:
    """State of one exchange: made by `KimiTransformer.begin`, dropped after the answer."""

    __slots__ = (
        *("_answer", "_choices", "_ended", "_first", "_moulded", "_usage"),
        *("gate", "late_ids", "request", "summaries"),
    )

    def __init__(self, request: JsonObject, answer: Answer) -> None:
        self.request = request
        self.gate = answer.gate
        self.summaries = answer.options.assemble_tool_deltas  # finishing chunks carry their message (section 7)
        self.late_ids = not answer.ledger.active  # an id behind the name of its call counts (section 3.7: it does not)
        self._answer = answer
        self._choices: dict[int, StreamedChoice] = {}
        self._first: JsonObject = {}
        self._ended = False
        self._usage: Any = None  # the last that was told, whatever it is
        self._moulded: MouldedChoice | None = None

    @property
    def notes(self) -> Sequence[Note]:
        return self._answer.notes

    def reply(self, body: JsonObject) -> JsonObject:
        """The whole answer, repaired; the same object if nothing changed."""
        body = lift_usage(body, self._answer.notes)
        choices = body.get("choices")
        if not isinstance(choices, list):
            return body
        mended = []
        same = True
        for at, choice in enumerate(choices):
            left = choice
            if isinstance(choice, dict):
                left = mended_choice(self._answer, choice_index(choice, at), choice)
                same = same and left is choice
            mended.append(left)
        return body if same else {**body, "choices": mended}

    def plain(self, stretch: Stretch) -> bool:
        choice = self._choices.get(stretch.choice)
        return choice is not None and not self.summaries and choice.plain(stretch.field, stretch.text)

    def feed(self, item: Item) -> Sequence[Item]:
        if isinstance(item, TextChunk) and item.mould.bare:
            return self._text(item)
        if isinstance(item, Chunk):
            return self._chunk(item)
        if isinstance(item, Done):
            self._ended = True
            return [*self._last([left for choice in self._choices.values() for left in choice.end()]), item]
        if isinstance(item, Failure):
            self._ended = True
            return [*self._made([left for choice in self._choices.values() for left in choice.broken()]), item]
        return (item,)

    def close(self) -> Sequence[Item]:
        """The end of the items. Without `[DONE]` the answer is whole if every choice has finished (section 6)."""
        if self._ended:
            return ()
        if self._choices and all(choice.finished for choice in self._choices.values()):
            return self.feed(Done())
        return self.feed(Failure(BadUpstream("the provider's stream ended before the answer was complete")))

    def _text(self, chunk: TextChunk) -> Sequence[Item]:
        moulded = self._moulded
        if moulded is None or moulded.mould is not chunk.mould:
            moulded = self._moulded = MouldedChoice(self._choice(chunk.mould.choice), chunk.mould)
        return moulded.feed(chunk)

    def _chunk(self, chunk: Chunk) -> Sequence[Item]:
        came = chunk.payload
        payload = lift_usage(came, self._answer.notes)
        if not self._first:
            self._first = payload
        self._usage = payload.get("usage") or self._usage
        choices = payload.get("choices")
        if not isinstance(choices, list):
            return (chunk,)
        if len(choices) == 1 and isinstance(choices[0], dict):
            choice = choices[0]
            told = self._choice(choice_index(choice, 0)).feed(choice)
            if len(told) == 1:
                if told[0] is not choice:
                    payload = {**payload, "choices": told}
                return (chunk,) if payload is came else (Chunk.of(payload),)
            return self._several(payload, [told])
        left: list[list[Any]] = [  # a choice may be anything
            self._choice(choice_index(choice, at)).feed(choice) if isinstance(choice, dict) else [choice]
            for at, choice in enumerate(choices)
        ]
        if not all(len(each) == 1 for each in left):
            return self._several(payload, left)
        told = [each[0] for each in left]
        if not all(map(is_, told, choices)):
            payload = {**payload, "choices": told}
        return (chunk,) if payload is came else (Chunk.of(payload),)

    def _several(self, payload: JsonObject, left: Sequence[list[Any]]) -> Sequence[Item]:
        """Another number of chunks than came: each choice object in its own; the usage is told once, at the end."""
        chunks = [Chunk.of({**payload, "choices": [each]}) for several in left for each in several]
        if not chunks:
            needless = all(value is None for name, value in payload.items() if name not in _NEEDLESS)
            return () if needless else (Chunk.of({**payload, "choices": []}),)
        if payload.get("usage") is not None:
            for each in chunks[:-1]:
                del each.payload["usage"]
        return chunks

    def _choice(self, index: int) -> StreamedChoice:
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = StreamedChoice(self._answer, index)
        return choice

    def _last(self, choices: list[JsonObject]) -> list[Chunk]:
        """The same behind everything that came. OpenAI's own client forgets a usage that is not in the last chunk."""
        chunks = self._made(choices)
        if chunks and self._usage:
            chunks[-1] = Chunk.of({**chunks[-1].payload, "usage": self._usage})
        return chunks

    def _made(self, choices: list[JsonObject]) -> list[Chunk]:
        """Chunks of our own, in the envelope of the stream."""
        envelope: JsonObject = {name: self._first[name] for name in ENVELOPE if name in self._first}
        return [Chunk.of({**envelope, "choices": [choice]}) for choice in choices]
