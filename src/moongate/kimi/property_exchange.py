"""An exchange whose request has tools with renamed properties: their names are turned back in the answer."""

from __future__ import annotations

from collections.abc import Sequence

from moongate.chat.items import Chunk, Done, Failure, Item
from moongate.chat.progress import choice_index
from moongate.kimi.answer.argument_names import ArgumentNames
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.exchange import KimiExchange
from moongate.payload import JsonObject


class PropertyRestoringExchange(KimiExchange):
    """The same as `KimiExchange`, and then the arguments of its calls."""

    __slots__ = ("_names", "_sample")

    def __init__(self, request: JsonObject, answer: AnswerContext) -> None:
        super().__init__(request, answer)
        self._names = ArgumentNames(answer.names.properties)
        self._sample: JsonObject = {}  # the last chunk without its choices

    def reply(self, body: JsonObject) -> JsonObject:
        body = super().reply(body)
        choices = body.get("choices")
        if not isinstance(choices, list):
            return body
        news = list(map(self._message, choices))
        return body if _same(news, choices) else {**body, "choices": news}

    def feed(self, item: Item) -> Sequence[Item]:
        return [restored for each in super().feed(item) for restored in self._item(each)]

    def _item(self, item: Item) -> list[Item]:
        if isinstance(item, Chunk):
            return self._restored_chunk(item)
        if isinstance(item, Done | Failure):
            return [*self._rest(None), item]
        return [item]

    def _restored_chunk(self, chunk: Chunk) -> list[Item]:
        payload = chunk.payload
        choices = payload.get("choices")
        if not isinstance(choices, list) or not choices:
            return [chunk]
        self._sample = {name: value for name, value in payload.items() if name not in ("choices", "usage")}
        before: list[Item] = []
        news = [self._choice(choice, at, before) for at, choice in enumerate(choices)]
        return [*before, chunk if _same(news, choices) else Chunk.of({**payload, "choices": news})]

    def _choice(self, choice: object, at: int, before: list[Item]) -> object:
        """A choice of a chunk; what was held back of other texts goes before, if they are over here."""
        if not isinstance(choice, dict):
            return choice
        index, last = choice_index(choice, at), bool(choice.get("finish_reason"))
        before += self._chunks(self._names.content_before(index, choice.get("delta")))
        delta = self._names.delta(index, choice.get("delta"), last=last)
        if last:
            before += self._rest(index)
        return self._message(_replaced(choice, "delta", delta))

    def _message(self, choice: object) -> object:
        if not isinstance(choice, dict):
            return choice
        return _replaced(choice, "message", self._names.message(choice.get("message")))

    def _rest(self, index: int | None) -> list[Item]:
        return self._chunks(self._names.rest(index))

    def _chunks(self, deltas: Sequence[tuple[int, JsonObject]]) -> list[Item]:
        return [
            Chunk.of({**self._sample, "choices": [{"index": choice, "delta": delta, "finish_reason": None}]})
            for choice, delta in deltas
        ]


def _replaced(choice: JsonObject, name: str, value: object) -> JsonObject:
    return choice if choice.get(name) is value else {**choice, name: value}


def _same(news: Sequence[object], olds: Sequence[object]) -> bool:
    return all(new is old for new, old in zip(news, olds, strict=True))
