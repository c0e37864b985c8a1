"""Transformers one after the other. Answers run in the exact mirror of requests.

request ──▶ first ──▶ second ──▶ provider
client  ◀── first ◀── second ◀── answer
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moongate.chat.contracts import Exchange, Note, Transformer
from moongate.chat.items import Item, Stretch
from moongate.payload import JsonObject
from moongate.pipeline.base import BaseExchange


class Chain:
    """Some transformers as one."""

    __slots__ = ("transformers",)

    def __init__(self, transformers: Sequence[Transformer] = ()) -> None:
        self.transformers = tuple(transformers)

    def begin(self, request: Mapping[str, Any]) -> Exchange:
        exchanges: list[Any] = []
        asked: Any = request
        for transformer in self.transformers:
            exchange: Any = transformer.begin(asked)
            exchanges.append(exchange)
            asked = exchange.request
        if len(exchanges) == 1:
            one: Exchange = exchanges[0]
            return one
        return ChainExchange(asked, exchanges) if exchanges else BaseExchange(asked)


class ChainExchange:
    """The exchanges of a chain as one.

    They may be somebody's own: what they hand to one another is theirs to judge, and so it is `Any` here.
    """

    __slots__ = ("_exchanges", "_mirror", "gate", "late_ids", "request", "summaries")

    def __init__(self, request: Any, exchanges: Sequence[Exchange]) -> None:
        self.request: Any = request
        self.summaries = any(getattr(each, "summaries", False) for each in exchanges)
        self.late_ids = all(getattr(each, "late_ids", True) for each in exchanges)
        gates = [getattr(each, "gate", None) for each in exchanges]
        self.gate = None if None in gates else b"".join(gate for gate in gates if gate is not None)
        self._exchanges: tuple[Any, ...] = tuple(exchanges)
        self._mirror: tuple[Any, ...] = tuple(reversed(exchanges))

    @property
    def notes(self) -> Sequence[Note]:
        return [note for exchange in self._exchanges for note in exchange.notes]

    def reply(self, body: JsonObject) -> JsonObject:
        left: Any = body
        for exchange in self._mirror:
            left = exchange.reply(left)
        told: JsonObject = left
        return told

    def plain(self, stretch: Stretch) -> bool:
        return all(exchange.plain(stretch) for exchange in self._mirror)

    def feed(self, item: Item) -> Sequence[Item]:
        items: Sequence[Any] = (item,)
        for exchange in self._mirror:
            items = _fed(exchange, items)
        return items

    def close(self) -> Sequence[Item]:
        items: Sequence[Any] = ()
        for exchange in self._mirror:
            items = [*_fed(exchange, items), *exchange.close()]
        return items


def _fed(exchange: Any, items: Sequence[Any]) -> Sequence[Any]:
    if len(items) == 1:
        fed: Sequence[Any] = exchange.feed(items[0])
        return fed
    return [left for item in items for left in exchange.feed(item)]
