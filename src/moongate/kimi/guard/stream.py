"""The chunks of a guarded stream: what flows, what is held back, and how a further try goes on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moongate.chat.items import STREAM_MEMBERS, Chunk
from moongate.chat.progress import choice_index
from moongate.kimi.guard.answer import GuardedAnswer, GuardedChoice
from moongate.payload import JsonObject

BLANK_LINE: Final = "\n\n"
_TEXTS: Final = ("content", "reasoning_content", "reasoning", "refusal")


class GuardedStream:
    """One per exchange, for the chunks of all tries. `holds_finish`: calls wait for the end of the answer."""

    __slots__ = ("_answer", "_first", "_holds_finish", "_is_further", "_separated", "_shown")

    def __init__(self, answer: GuardedAnswer, *, holds_finish: bool) -> None:
        self._answer = answer
        self._holds_finish = holds_finish
        self._first: JsonObject = {}  # what every chunk of the stream repeats
        self._is_further = False  # a try behind the first one
        self._shown: set[int] = set()  # choices of which earlier tries have shown text
        self._separated: set[int] = set()  # those to which this try has added text

    @property
    def is_flowing(self) -> bool:
        """Were there more calls than can be held? Some have left, so that no other try can be made."""
        return any(choice.held.flowing for choice in self._answer.choices.values())

    def begin_try(self, answer: GuardedAnswer) -> None:
        """The chunks that follow belong to the answer of a further try."""
        choices = self._answer.exchange.choices
        self._shown |= {index for index, choice in choices.items() if choice.has_content}
        self._separated = set()
        self._answer = answer
        self._is_further = True

    def feed(self, chunk: Chunk) -> list[Chunk]:
        """What leaves for a chunk."""
        payload = chunk.payload
        if not self._first:
            self._first = {name: payload[name] for name in STREAM_MEMBERS if name in payload}
        if isinstance(payload.get("usage"), dict):
            self._answer.usage = payload["usage"]
        choices = payload.get("choices")
        if not isinstance(choices, list) or not choices:
            if self._holds_finish and any(each.finish for each in self._answer.choices.values()):
                self._answer.tail.append(chunk)
                return []
            return self.continued([chunk])
        if len(choices) == 1:
            return self._choice(chunk, choices[0], 0)
        return self._several(chunk, choices)

    def continued(self, chunks: Iterable[Chunk], *, is_new: bool = False) -> list[Chunk]:
        """Chunks as a part of the stream that the client has seen so far. `is_new`: they are a whole answer."""
        if not self._is_further:
            return list(chunks)
        if is_new:
            self._shown |= self._separated
            self._separated = set()
        return [self._renamed(chunk) for chunk in chunks]

    def _several(self, chunk: Chunk, choices: list[object]) -> list[Chunk]:
        """A chunk with several choices is divided where one of them has to wait."""
        dicts = [choice for choice in choices if isinstance(choice, dict)]
        if not any(choice.get("finish_reason") is not None or _entries(choice) for choice in dicts):
            for at, choice in enumerate(dicts):
                if self._answer.guards(index := choice_index(choice, at)):
                    self._remember(choice, self._answer.choice(index))
            return self.continued([chunk])
        payload = {name: value for name, value in chunk.payload.items() if name != "usage"}
        left: list[Chunk] = []
        for at, choice in enumerate(dicts):
            members = chunk.payload if at == len(dicts) - 1 else payload
            left += self._choice(Chunk.of({**members, "choices": [choice]}), choice, at)
        return left

    def _choice(self, chunk: Chunk, choice: object, at: int) -> list[Chunk]:
        if not isinstance(choice, dict) or not self._answer.guards(choice_index(choice, at)):
            return self.continued([chunk])
        guarded = self._answer.choice(choice_index(choice, at))
        entries, reason = _entries(choice), choice.get("finish_reason")
        left: list[Chunk] = []
        if not entries or len(choice["delta"]) > 1:  # there may be text in it
            self._remember(choice, guarded)
            if not entries and reason is None:
                return self.continued([chunk])
            left, chunk = self._text_apart(chunk, choice)
        if entries:
            calls = chunk if reason is None else _with_choice(chunk, {**choice, "finish_reason": None}, entries)
            if not self._holds_finish and guarded.held.is_next(entries):
                left += guarded.held.release()
            left += guarded.held.hold(calls, entries)
            if reason is not None:
                chunk = _with_choice(chunk, choice, [])
        if reason is None:
            return self.continued(left)
        guarded.reason = reason
        if not self._holds_finish or guarded.held.flowing:
            return self.continued([*left, *guarded.held.release(), _with_calls(chunk, guarded)])
        guarded.finish = chunk
        return self.continued(left)

    def _text_apart(self, chunk: Chunk, choice: JsonObject) -> tuple[list[Chunk], Chunk]:
        """The text of a chunk that has to wait leaves before the rest of it."""
        delta = choice.get("delta")
        if not isinstance(delta, dict) or not any(delta.get(name) for name in _TEXTS):
            return [], chunk
        text = {name: value for name, value in delta.items() if name != "tool_calls"}
        rest = {name: value for name, value in delta.items() if name == "tool_calls"}
        bare = {name: value for name, value in chunk.payload.items() if name != "usage"}
        index = choice.get("index", 0)
        before = Chunk.of({**bare, "choices": [{"index": index, "delta": text, "finish_reason": None}]})
        return [before], Chunk.of({**chunk.payload, "choices": [{**choice, "delta": rest}]})

    def _remember(self, choice: JsonObject, guarded: GuardedChoice) -> None:
        """Text that another try would have to be told of."""
        delta = choice.get("delta")
        if not self._holds_finish or not isinstance(delta, dict):
            return
        for name in _TEXTS:
            text = delta.get(name)
            if text and isinstance(text, str):
                guarded.keep(name, text)

    def _renamed(self, chunk: Chunk) -> Chunk:
        """A chunk of a further try under the first one's id and model; its text begins behind a blank line."""
        choices = chunk.payload.get("choices")
        news = [self._continued_choice(choice) for choice in choices] if isinstance(choices, list) else choices
        return Chunk.of({**chunk.payload, **self._first, "choices": news})

    def _continued_choice(self, choice: object) -> object:
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(delta, dict):
            return choice
        index = choice_index(choice, 0)
        delta = {name: value for name, value in delta.items() if name != "role"}
        content = delta.get("content")
        if content and isinstance(content, str) and index not in self._separated:
            self._separated.add(index)
            if index in self._shown:
                delta["content"] = BLANK_LINE + content
        return {**choice, "delta": delta}


def _entries(choice: JsonObject) -> list[object]:
    delta = choice.get("delta")
    entries = delta.get("tool_calls") if isinstance(delta, dict) else None
    return entries if isinstance(entries, list) else []


def _with_choice(chunk: Chunk, choice: JsonObject, entries: list[object]) -> Chunk:
    """The chunk with nothing but these deltas of calls. The usage stays with the finish."""
    delta = {"tool_calls": entries} if entries else {}
    payload = chunk.payload
    if entries:
        payload = {name: value for name, value in payload.items() if name != "usage"}
    return Chunk.of({**payload, "choices": [{**choice, "delta": delta}]})


def _with_calls(chunk: Chunk, guarded: GuardedChoice) -> Chunk:
    """The finish of a choice; a summary of its calls (section 7) is that of the calls that left."""
    (choice,) = chunk.payload["choices"]
    message = choice.get("message")
    if not isinstance(message, dict) or not any(call.notes for _, call in guarded.held.calls):
        return chunk
    return Chunk.of({**chunk.payload, "choices": [{**choice, "message": {**message, "tool_calls": guarded.entries}}]})
