"""Base classes for transformers of your own: what you do not write does nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from moongate.chat.contracts import Exchange, Note
from moongate.chat.items import Chunk, Failure, Item
from moongate.chat.verdict import CLEAN, REPAIRED, ReplacedAnswer, Verdict, verdict_of_error
from moongate.payload import JsonObject


class BaseExchange:
    """One request and its one answer, passed on as they are.

    Override `reply` for whole answers and `chunk` for streamed ones. To change something, build new objects: what
    is returned unchanged leaves with the provider's own bytes.

    >>> class Shouting(BaseExchange):
    ...     def chunk(self, payload):
    ...         choices = [{**c, "delta": {"content": c["delta"]["content"].upper()}} for c in payload["choices"]]
    ...         return {**payload, "choices": choices}
    >>> shouting = Shouting({"messages": []})
    >>> shouting.feed(Chunk.of({"choices": [{"index": 0, "delta": {"content": "hi"}}]}))
    (Chunk({'choices': [{'index': 0, 'delta': {'content': 'HI'}}]}),)
    """

    assembles_calls = False
    accepts_late_ids = True

    def __init__(self, request: JsonObject) -> None:
        self.request = request
        self._notes: list[Note] = []
        self._error: Verdict | None = None

    @property
    def notes(self) -> Sequence[Note]:
        return self._notes

    @property
    def verdict(self) -> Verdict:
        """What the answer was worth: repaired if a note says so. Its calls are not judged here."""
        if self._error is not None:
            return self._error
        return REPAIRED if any(note.mends == "vendor" for note in self._notes) else CLEAN

    def schema_check(self) -> Callable[[], Verdict] | None:
        """None: calls are not judged here."""
        return None

    @property
    def replaced(self) -> Sequence[ReplacedAnswer]:
        return ()

    def next_request(self) -> JsonObject | None:
        """None: no other try is made."""
        return None

    def settle(self) -> Sequence[Item]:
        return ()

    def note(self, kind: str, where: str, before: object = None, after: object = None) -> None:
        """Leave a note of a repair, for the caller's log."""
        self._notes.append(Note(kind, where, before, after))

    def reply(self, body: JsonObject) -> JsonObject:
        """The whole answer."""
        return body

    def chunk(self, payload: JsonObject) -> JsonObject:
        """One chunk of a streamed answer."""
        return payload

    def feed(self, item: Item) -> Sequence[Item]:
        """Any item of a streamed answer. Override it only to hold items back or to make more of them."""
        if not isinstance(item, Chunk):
            if isinstance(item, Failure):
                self._error = verdict_of_error(item.error)
            return (item,)
        payload = self.chunk(item.payload)
        return (item,) if payload is item.payload else (Chunk.of(payload),)

    def close(self) -> Sequence[Item]:
        """The end of the items: what was held back."""
        return ()


class BaseTransformer:
    """Makes exchanges. Override `begin`; to change the request, hand another one to the exchange.

    >>> BaseTransformer().begin({"messages": []}).request
    {'messages': []}
    """

    def begin(self, request: JsonObject) -> Exchange:
        return BaseExchange(request)
