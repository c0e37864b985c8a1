"""Base classes for transformers of your own: what you do not write does nothing."""

from __future__ import annotations

from collections.abc import Sequence

from moongate.chat.contracts import Exchange, Note
from moongate.chat.items import Chunk, Item, Stretch
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

    summaries = False
    late_ids = True

    def __init__(self, request: JsonObject) -> None:
        self.request = request
        self._notes: list[Note] = []

    @property
    def notes(self) -> Sequence[Note]:
        return self._notes

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
            return (item,)
        payload = self.chunk(item.payload)
        return (item,) if payload is item.payload else (Chunk.of(payload),)

    def close(self) -> Sequence[Item]:
        """The end of the items: what was held back."""
        return ()

    @property
    def gate(self) -> bytes | None:
        """The bytes of a text that `plain` asks about: none, unless it is your own."""
        return b"" if type(self).plain is BaseExchange.plain else None

    def plain(self, stretch: Stretch) -> bool:
        """Plain text passes unread unless chunks are looked at."""
        cls = type(self)
        return cls.feed is BaseExchange.feed and cls.chunk is BaseExchange.chunk


class BaseTransformer:
    """Makes exchanges. Override `begin`; to change the request, hand another one to the exchange.

    >>> BaseTransformer().begin({"messages": []}).request
    {'messages': []}
    """

    def begin(self, request: JsonObject) -> Exchange:
        return BaseExchange(request)
