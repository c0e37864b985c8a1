"""Base classes for transformers of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moongate.chat.base import BaseExchange, BaseTransformer
from moongate.chat.contracts import Exchange, Note
from moongate.chat.items import Chunk, Done, Failure, Item
from moongate.chat.verdict import CLEAN, FAILED, REPAIRED
from moongate.errors import BadUpstream


class Shouting(BaseExchange):
    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        self.note("shout", "choices")
        return {**body, "loud": True}

    def chunk(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {**payload, "loud": True} if payload else payload


class Holding(BaseExchange):
    def feed(self, item: Item) -> Sequence[Item]:
        return ()


def test_the_base_does_nothing() -> None:
    request: dict[str, Any] = {"messages": []}
    exchange: Exchange = BaseTransformer().begin(request)
    body: dict[str, Any] = {"choices": []}
    assert exchange.request is request
    assert exchange.reply(body) is body
    for item in (Chunk.of({}), Done()):
        assert exchange.feed(item) == (item,)
    assert exchange.close() == ()
    assert (exchange.assembles_calls, exchange.accepts_late_ids) == (False, True)
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


def test_items_may_be_held_back() -> None:
    assert Holding({}).feed(Done()) == ()


def test_an_answer_is_clean_until_a_note_about_it_or_a_failure() -> None:
    exchange = BaseExchange({})
    exchange.note("parameter", "thinking")
    assert exchange.verdict == CLEAN
    exchange.note("shout", "choices[0]")
    exchange.feed(Done())
    assert exchange.verdict == REPAIRED
    exchange.feed(Failure(BadUpstream("cut")))
    assert exchange.verdict == FAILED


def test_calls_are_not_checked_against_schemas() -> None:
    assert BaseExchange({}).schema_check() is None


def test_what_is_not_overridden_does_nothing() -> None:
    exchange = BaseExchange({"messages": []})
    assert exchange.schema_check() is None
    assert exchange.replaced == ()
    assert exchange.next_request() is None
    assert exchange.settle() == ()
