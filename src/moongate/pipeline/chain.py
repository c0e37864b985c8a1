"""Transformers one after the other. Answers run in the exact mirror of requests.

request ──▶ first ──▶ second ──▶ provider
client  ◀── first ◀── second ◀── answer
"""

from __future__ import annotations

from collections.abc import Sequence

from moongate.chat.contracts import Exchange, Note, Transformer
from moongate.chat.items import Item, Stretch
from moongate.payload import JsonObject
from moongate.pipeline.base import BaseExchange


class Chain:
    """Some transformers as one."""

    __slots__ = ("transformers",)

    def __init__(self, transformers: Sequence[Transformer] = ()) -> None:
        self.transformers = tuple(transformers)

    def begin(self, request: JsonObject) -> Exchange:
        exchanges: list[Exchange] = []
        for transformer in self.transformers:
            exchange = transformer.begin(request)
            exchanges.append(exchange)
            request = exchange.request
        if len(exchanges) == 1:
            return exchanges[0]
        return ChainExchange(request, exchanges) if exchanges else BaseExchange(request)


class ChainExchange:
    """The exchanges of a chain as one."""

    __slots__ = ("_exchanges", "_mirror", "gate", "late_ids", "request", "summaries")

    def __init__(self, request: JsonObject, exchanges: Sequence[Exchange]) -> None:
        self.request = request
        self.summaries = any(getattr(each, "summaries", False) for each in exchanges)
        self.late_ids = all(getattr(each, "late_ids", True) for each in exchanges)
        gates = [getattr(each, "gate", None) for each in exchanges]
        self.gate = None if None in gates else b"".join(gate for gate in gates if gate is not None)
        self._exchanges = tuple(exchanges)
        self._mirror = tuple(reversed(exchanges))

    @property
    def notes(self) -> Sequence[Note]:
        return [note for exchange in self._exchanges for note in exchange.notes]

    def reply(self, body: JsonObject) -> JsonObject:
        for exchange in self._mirror:
            body = exchange.reply(body)
        return body

    def plain(self, stretch: Stretch) -> bool:
        return all(exchange.plain(stretch) for exchange in self._mirror)

    def feed(self, item: Item) -> Sequence[Item]:
        items: Sequence[Item] = (item,)
        for exchange in self._mirror:
            items = _fed(exchange, items)
        return items

    def close(self) -> Sequence[Item]:
        items: Sequence[Item] = ()
        for exchange in self._mirror:
            items = [*_fed(exchange, items), *exchange.close()]
        return items


def _fed(exchange: Exchange, items: Sequence[Item]) -> Sequence[Item]:
    if len(items) == 1:
        return exchange.feed(items[0])
    return [left for item in items for left in exchange.feed(item)]
