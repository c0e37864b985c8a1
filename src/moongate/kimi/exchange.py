"""One request to a Kimi model and its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, Final

from moongate.chat.contracts import Note
from moongate.chat.items import STREAM_MEMBERS, Chunk, Done, Failure, Item
from moongate.chat.progress import choice_index
from moongate.chat.verdict import ReplacedAnswer, Verdict
from moongate.errors import BadUpstream
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.answer.schema_check import schema_check
from moongate.kimi.answer.streamed_choice import StreamedChoice
from moongate.kimi.answer.usage import lift_usage
from moongate.kimi.answer.whole_choice import repair_choice
from moongate.payload import JsonObject
from moongate.wire.threads import free_in_pieces

MAX_CHOICES: Final = 128  # of one answer, as many as a client may ask for; others pass as they came
_REPEATED: Final = frozenset((*STREAM_MEMBERS, "choices"))


class KimiExchange:
    """State of one exchange: made by `KimiTransformer.begin`, dropped after the answer."""

    __slots__ = (
        *("_ended", "_first", "_held", "_usage", "accepts_late_ids", "answer"),
        *("assembles_calls", "choices", "request"),
    )

    def __init__(self, request: JsonObject, answer: AnswerContext) -> None:
        self.request = request
        self.answer = answer
        self.choices: dict[int, StreamedChoice] = {}
        self.assembles_calls = answer.options.assemble_tool_deltas  # (section 7)
        self.accepts_late_ids = not answer.call_ids.active  # (section 3.7)
        self._first: JsonObject = {}
        self._held: Chunk | None = None  # the last of which nothing was left at first
        self._ended = False
        self._usage: Any = None  # the last that came, whatever it is

    @property
    def notes(self) -> Sequence[Note]:
        return self.answer.notes

    @property
    def verdict(self) -> Verdict:
        """What the answer was worth (section 13); until it is over it counts as aborted."""
        return self.answer.judge.verdict()

    def schema_check(self) -> Callable[[], Verdict] | None:
        return schema_check(self.answer)

    @property
    def replaced(self) -> Sequence[ReplacedAnswer]:
        return ()

    def next_request(self) -> JsonObject | None:
        """None: no other try is made."""
        return None

    def settle(self) -> Sequence[Item]:
        return ()

    def reply(self, body: JsonObject) -> JsonObject:
        """The whole answer, repaired; the same object if nothing changed."""
        self.answer.judge.end()
        body = lift_usage(body, self.answer.notes)
        choices = body.get("choices")
        if not isinstance(choices, list):
            return body
        repaired = []
        same = True
        for at, choice in enumerate(choices):
            result = choice
            if isinstance(choice, dict) and at < MAX_CHOICES:
                result = repair_choice(self.answer, choice_index(choice, at), choice)
                same = same and result is choice
            repaired.append(result)
        return body if same else {**body, "choices": repaired}

    def feed(self, item: Item) -> Sequence[Item]:
        if isinstance(item, Chunk):
            return self._chunk(item)
        if isinstance(item, Done):
            self._ended = True
            self.answer.judge.end()
            return [*self._final_chunks([each for choice in self.choices.values() for each in choice.end()]), item]
        if isinstance(item, Failure):
            self._ended = True
            self.answer.judge.fail(item.error)
            return [*self._own_chunks([each for choice in self.choices.values() for each in choice.broken()]), item]
        return (item,)

    def close(self) -> Sequence[Item]:
        """The end of the items. Without `[DONE]` the answer is complete if every choice has finished (section 6)."""
        if self._ended:
            return ()
        if self.choices and all(choice.finished for choice in self.choices.values()):
            return self.feed(Done())
        return self.feed(Failure(BadUpstream("the provider's stream ended before the answer was complete")))

    def _chunk(self, chunk: Chunk) -> Sequence[Item]:
        original = chunk.payload
        payload = lift_usage(original, self.answer.notes)
        if not self._first:
            self._first = payload
        self._usage = payload.get("usage") or self._usage
        choices = payload.get("choices")
        if not isinstance(choices, list):
            return (chunk,)
        if len(choices) == 1 and isinstance(choices[0], dict):
            choice = choices[0]
            made, held = self._fed(choice, 0), self._held
            if held is not None and made and made[0] is held.payload["choices"][0]:
                return [held, *self._one_choice(chunk, payload, choice, made[1:])]
            return self._one_choice(chunk, payload, choice, made)
        per_choice: list[list[Any]] = [  # a choice may be anything
            self._fed(choice, at) if isinstance(choice, dict) else [choice] for at, choice in enumerate(choices)
        ]
        if not all(len(each) == 1 for each in per_choice):
            return self._split_chunk(payload, per_choice)
        made = [each[0] for each in per_choice]
        if not all(map(is_, made, choices)):
            payload = {**payload, "choices": made}
        return (chunk,) if payload is original else (Chunk.of(payload),)

    def _one_choice(
        self, chunk: Chunk, payload: JsonObject, choice: JsonObject, made: list[JsonObject]
    ) -> Sequence[Item]:
        """A chunk with one choice, of which this was made."""
        if len(made) == 1:
            if made[0] is not choice:
                payload = {**payload, "choices": made}
            return (chunk,) if payload is chunk.payload else (Chunk.of(payload),)
        left = self._split_chunk(payload, [made])
        self._held = None if left else chunk
        return left

    def _split_chunk(self, payload: JsonObject, per_choice: Sequence[list[Any]]) -> Sequence[Item]:
        """The chunk as none or several, one for each choice object; the usage goes with the last."""
        chunks = [Chunk.of({**payload, "choices": [each]}) for several in per_choice for each in several]
        if not chunks:
            redundant = all(value is None for name, value in payload.items() if name not in _REPEATED)
            return () if redundant else (Chunk.of({**payload, "choices": []}),)
        if payload.get("usage") is not None:
            for each in chunks[:-1]:
                del each.payload["usage"]
        return chunks

    def _fed(self, choice: JsonObject, at: int) -> list[JsonObject]:
        """What the client gets for a choice object of a chunk."""
        index = choice_index(choice, at)
        return self.choice(index).feed(choice) if self.repairs(index) else [choice]

    def forget(self) -> None:
        """The answer is over, and its calls need no check: free what it was read into."""
        for choice in self.choices.values():
            free_in_pieces(choice.calls.emitted)
        self.choices.clear()
        judged = self.answer.judge.calls
        for calls in judged.values():
            free_in_pieces(calls)
        judged.clear()

    def repairs(self, index: int) -> bool:
        """Whether this choice is among those that are repaired."""
        return len(self.choices) < MAX_CHOICES or index in self.choices

    def choice(self, index: int) -> StreamedChoice:
        choice = self.choices.get(index)
        if choice is None:
            choice = self.choices[index] = StreamedChoice(self.answer, index)
        return choice

    def _final_chunks(self, choices: list[JsonObject]) -> list[Chunk]:
        """Chunks for the end of the stream. OpenAI's own client ignores a usage that is not in the last one."""
        chunks = self._own_chunks(choices)
        if chunks and self._usage:
            chunks[-1] = Chunk.of({**chunks[-1].payload, "usage": self._usage})
        return chunks

    def _own_chunks(self, choices: list[JsonObject]) -> list[Chunk]:
        """Chunks of our own, with the members that every chunk of the stream repeats."""
        repeated: JsonObject = {name: self._first[name] for name in STREAM_MEMBERS if name in self._first}
        return [Chunk.of({**repeated, "choices": [choice]}) for choice in choices]
