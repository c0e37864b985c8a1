"""Answers run in the exact mirror of requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from moongate import KimiTransformer
from moongate.chat.contracts import Exchange
from moongate.chat.items import Chunk, Item, Stretch
from moongate.pipeline.base import BaseExchange, BaseTransformer
from moongate.pipeline.chain import Chain
from moongate.pipeline.session import Session

Row = dict[str, Any]


class Signed(BaseExchange):
    """Signs whatever passes."""

    def __init__(self, name: str, request: Row) -> None:
        super().__init__({**request, "path": [*request.get("path", ()), name]})
        self.name = name
        self.note("signed", name)

    def reply(self, body: Row) -> Row:
        return {**body, "path": [*body.get("path", ()), self.name]}

    def chunk(self, payload: Row) -> Row:
        return self.reply(payload)

    def close(self) -> Sequence[Item]:
        return (Chunk.of({"path": [f"held by {self.name}"]}),)


class Signing(BaseTransformer):
    def __init__(self, name: str) -> None:
        self.name = name

    def begin(self, request: Row) -> Exchange:
        return Signed(self.name, request)


class Doubling(BaseTransformer):
    class Exchange(BaseExchange):
        summaries = True
        late_ids = False

        def feed(self, item: Item) -> Sequence[Item]:
            return (item, item)

    def begin(self, request: Row) -> Exchange:
        return Doubling.Exchange(request)


def paths(items: Sequence[Item]) -> list[list[str]]:
    return [item.payload["path"] for item in items if isinstance(item, Chunk)]


def test_requests_run_left_to_right_and_answers_right_to_left() -> None:
    exchange = Chain([Signing("a"), Signing("b"), Signing("c")]).begin({})
    assert exchange.request["path"] == ["a", "b", "c"]
    assert exchange.reply({})["path"] == ["c", "b", "a"]
    assert paths(exchange.feed(Chunk.of({}))) == [["c", "b", "a"]]
    assert paths(exchange.close()) == [["held by c", "b", "a"], ["held by b", "a"], ["held by a"]]
    assert [note.where for note in exchange.notes] == ["a", "b", "c"]


def test_an_item_may_become_several() -> None:
    exchange = Chain([Signing("a"), Doubling()]).begin({})
    assert paths(exchange.feed(Chunk.of({}))) == [["a"], ["a"]]
    assert getattr(exchange, "summaries") is True  # noqa: B009
    assert getattr(exchange, "late_ids") is False  # noqa: B009


@pytest.mark.parametrize(("names", "plain"), [("", True), ("a", False), ("-", True), ("--", True), ("-a", False)])
def test_plain_text_passes_if_it_may_pass_everywhere(names: str, plain: bool) -> None:
    chain = Chain([BaseTransformer() if name == "-" else Signing(name) for name in names])
    assert chain.begin({}).plain(Stretch(b"", b"a", "content", 0)) is plain


def test_a_chain_of_one_is_that_one_and_a_chain_of_none_does_nothing() -> None:
    assert isinstance(Chain([Signing("a")]).begin({}), Signed)
    request: Row = {}
    assert Chain().begin(request).request is request


def test_a_chain_asks_about_what_any_of_it_asks_about() -> None:
    kimi = KimiTransformer()
    two = Chain([BaseTransformer(), kimi]).begin({"messages": []})
    assert getattr(two, "gate") == b"<"  # noqa: B009
    three = Chain([Looking(), BaseTransformer(), kimi]).begin({"messages": []})
    assert getattr(three, "gate") is None  # noqa: B009


class Looking(BaseTransformer):
    class Exchange(BaseExchange):
        def plain(self, stretch: Stretch) -> bool:
            return False

    def begin(self, request: Row) -> Exchange:
        return Looking.Exchange(request)


@pytest.mark.parametrize("word", [None, 0, "yes"])
def test_whether_a_text_is_plain_may_be_said_with_any_value(word: object) -> None:
    class Casual(BaseExchange):
        notes = ("a note of its own",)  # type: ignore[assignment]

        def plain(self, stretch: Stretch) -> Any:
            return word

    class Makes(BaseTransformer):
        def begin(self, request: Row) -> BaseExchange:
            return Casual(request)

    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    for exchange in (Makes().begin({}), Chain([Makes(), BaseTransformer()]).begin({})):
        session = Session(exchange, "text/event-stream")
        assert b"".join(session.feed(chunk) for _ in range(5)) == chunk * 5
        assert [str(note) for note in exchange.notes] == ["a note of its own"]
