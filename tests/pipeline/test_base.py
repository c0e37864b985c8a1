"""Base classes for transformers of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moongate.chat.contracts import Exchange, Note
from moongate.chat.items import Chunk, Done, Item, Stretch
from moongate.pipeline.base import BaseExchange, BaseTransformer

STRETCH = Stretch(b"", b"a", "content", 0)


class Shouting(BaseExchange):
    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        self.note("shout", "choices")
        return {**body, "loud": True}

    def chunk(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {**payload, "loud": True} if payload else payload


class Holding(BaseExchange):
    def feed(self, item: Item) -> Sequence[Item]:
        return ()


class Counting(BaseExchange):
    """Looks at whole answers only."""

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        return body


def test_the_base_does_nothing() -> None:
    request: dict[str, Any] = {"messages": []}
    exchange: Exchange = BaseTransformer().begin(request)
    body: dict[str, Any] = {"choices": []}
    assert exchange.request is request
    assert exchange.reply(body) is body
    for item in (Chunk.of({}), Done()):
        assert exchange.feed(item) == (item,)
    assert exchange.close() == ()
    assert exchange.plain(STRETCH)
    assert exchange.notes == []


def test_what_is_overridden_is_used() -> None:
    exchange = Shouting({})
    assert exchange.reply({}) == {"loud": True}
    assert exchange.notes == [Note("shout", "choices")]
    (item,) = exchange.feed(Chunk({"a": 1}, b"raw"))
    assert isinstance(item, Chunk)
    assert (item.payload, item.raw) == ({"a": 1, "loud": True}, None)
    same = Chunk({}, b"raw")
    assert exchange.feed(same) == (same,)


def test_plain_text_passes_unread_only_if_nobody_looks_at_chunks() -> None:
    assert Counting({}).plain(STRETCH)
    assert not Shouting({}).plain(STRETCH)
    assert not Holding({}).plain(STRETCH)
    assert Holding({}).feed(Done()) == ()


def test_a_plain_of_your_own_asks_about_anything() -> None:
    class Own(BaseExchange):
        def plain(self, stretch: Stretch) -> bool:
            return True

    assert BaseExchange({}).gate == b""
    assert Own({}).gate is None
