"""Exchanges that edit each choice of an answer by itself, whole answers and streams by the same code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Protocol

from moongate.chat.base import BaseExchange
from moongate.chat.items import STREAM_MEMBERS, Chunk, Done, Failure, Item
from moongate.chat.progress import choice_index
from moongate.payload import JsonObject


class ChoiceEditor(Protocol):
    """The state of one choice. A whole answer is a stream of one delta."""

    def feed(self, delta: JsonObject, finish_reason: object) -> tuple[JsonObject, object]:
        """The delta and the finish reason that leave; the same objects if nothing changes."""
        ...

    def close(self) -> JsonObject:
        """The choice ends without a finish reason: the delta with what was held back, empty if that is nothing."""
        ...


class ChoiceEditingExchange(BaseExchange):
    """An exchange that makes an editor for each choice."""

    def __init__(self, request: JsonObject, make: Callable[[], ChoiceEditor]) -> None:
        super().__init__(request)
        self._make = make
        self._editors: dict[int, ChoiceEditor] = {}
        self._envelope: JsonObject = {}  # of chunks of our own

    def reply(self, body: JsonObject) -> JsonObject:
        return edit_choices(body, self._whole)

    def chunk(self, payload: JsonObject) -> JsonObject:
        self._envelope = payload
        return edit_choices(payload, self._streamed)

    def feed(self, item: Item) -> Sequence[Item]:
        if isinstance(item, Done | Failure):
            return [*self._rest(), *super().feed(item)]
        return super().feed(item)

    def close(self) -> Sequence[Item]:
        return self._rest()

    def _rest(self) -> list[Item]:
        """Chunks with what the choices still hold back."""
        repeated: JsonObject = {name: self._envelope[name] for name in STREAM_MEMBERS if name in self._envelope}
        editors, self._editors = self._editors, {}
        left = [(index, editor.close()) for index, editor in editors.items()]
        return [
            Chunk.of({**repeated, "choices": [{"index": index, "delta": delta, "finish_reason": None}]})
            for index, delta in left
            if delta
        ]

    def _streamed(self, choice: JsonObject, index: int) -> JsonObject:
        if index not in self._editors:
            self._editors[index] = self._make()
        return _edited(choice, "delta", self._editors[index])

    def _whole(self, choice: JsonObject, index: int) -> JsonObject:
        editor = self._make()
        edited = _edited(choice, "message", editor)
        rest = editor.close()
        if not rest:
            return edited
        message = edited["message"]
        return {**edited, "message": {**message, **_joined(message, rest)}}


def edit_choices(payload: JsonObject, edit: Callable[[JsonObject, int], JsonObject]) -> JsonObject:
    """The answer or chunk with its choices edited; the same object if all of them are the same."""
    choices = payload.get("choices")
    if not isinstance(choices, list):
        return payload
    edited = [edit(each, choice_index(each, at)) if isinstance(each, dict) else each for at, each in enumerate(choices)]
    return payload if all(map(is_, edited, choices)) else {**payload, "choices": edited}


def _edited(choice: JsonObject, member: str, editor: ChoiceEditor) -> JsonObject:
    given = choice.get(member)
    delta: JsonObject = given if isinstance(given, dict) else {}
    reason = choice.get("finish_reason")
    news, new_reason = editor.feed(delta, reason)
    if news is not delta:
        choice = {**choice, member: news}
    return choice if new_reason is reason else {**choice, "finish_reason": new_reason}


def _joined(message: JsonObject, rest: JsonObject) -> JsonObject:
    """The members of `rest`, with what the message has of them in front."""
    return {name: message[name] + value if message.get(name) else value for name, value in rest.items()}
