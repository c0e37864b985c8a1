"""Answers run in the exact mirror of requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import pytest

from moongate.chat.base import BaseExchange, BaseTransformer
from moongate.chat.contracts import Exchange, TakesLong
from moongate.chat.items import Chunk, Item
from moongate.chat.verdict import CLEAN, REPAIRED, ReplacedAnswer, Verdict
from moongate.pipeline.chain import Chain, ChainExchange

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
        assembles_calls = True
        accepts_late_ids = False

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


def test_a_chain_assembles_calls_if_one_does_and_accepts_late_ids_if_all_do() -> None:
    one = Chain([Signing("a"), Doubling()]).begin({})
    assert (one.assembles_calls, one.accepts_late_ids) == (True, False)
    none = Chain([Signing("a"), Signing("b")]).begin({})
    assert (none.assembles_calls, none.accepts_late_ids) == (False, True)


def test_a_chain_of_one_is_that_one_and_a_chain_of_none_does_nothing() -> None:
    assert isinstance(Chain([Signing("a")]).begin({}), Signed)
    request: Row = {}
    assert Chain().begin(request).request is request


def test_notes_may_be_any_sequence() -> None:
    class Casual(BaseExchange):
        notes = ("a note of its own",)  # type: ignore[assignment]

    class Makes(BaseTransformer):
        def begin(self, request: Row) -> BaseExchange:
            return Casual(request)

    exchange = Chain([Makes(), BaseTransformer()]).begin({})
    assert [str(note) for note in exchange.notes] == ["a note of its own"]


def test_transformers_without_a_quick_way_begin_as_ever() -> None:
    class Slow(BaseTransformer):
        def begin_quickly(self, _request: Row) -> Exchange:
            raise TakesLong

    assert Chain([Signing("a"), Signing("b")]).begin_quickly({}).request == {"path": ["a", "b"]}
    with pytest.raises(TakesLong):
        Chain([Signing("a"), Slow()]).begin_quickly({})
    assert Chain([Slow()]).begin({"x": 1}).request == {"x": 1}


class Learning(BaseTransformer):
    """Knows what to do about one refusal."""

    def __init__(self, refusal: str, rules: Set[str] = frozenset()) -> None:
        self.refusal, self.rules = refusal, rules

    def recognise_refusal(self, message: str) -> str | None:
        return f"rule for {message}" if message == self.refusal else None

    def with_rules(self, rules: Set[str]) -> Learning:
        return Learning(self.refusal, rules)


def test_a_chain_learns_what_its_transformers_learn() -> None:
    chain = Chain([Signing("a"), Learning("x"), Learning("y")])
    assert [chain.recognise_refusal(text) for text in ("x", "y", "z")] == ["rule for x", "rule for y", None]
    changed = chain.with_rules({"r"})
    assert changed.transformers[0] is chain.transformers[0]
    assert [getattr(each, "rules", None) for each in changed.transformers] == [None, {"r"}, {"r"}]
    assert Chain().recognise_refusal("x") is None


class Informed(BaseTransformer):
    takes_message_tools = True
    streams_usage = True


def test_a_chain_knows_of_model_and_host_what_a_transformer_knows() -> None:
    for chain, known in ((Chain([Signing("a"), Informed()]), True), (Chain([Signing("a")]), False), (Chain(), False)):
        assert chain.takes_message_tools is known
        assert chain.streams_usage is known


def test_the_worst_verdict_of_a_chain_counts() -> None:
    first, second = BaseExchange({}), BaseExchange({})
    chain = ChainExchange({}, [first, second])
    assert chain.verdict == CLEAN
    second.note("shout", "choices[0]")
    assert chain.verdict == REPAIRED


class Checked(BaseExchange):
    """An exchange whose calls can be checked."""

    def schema_check(self) -> Callable[[], Verdict] | None:
        return lambda: REPAIRED


def test_the_schema_check_is_that_of_the_exchange_nearest_to_the_client() -> None:
    assert ChainExchange({}, [BaseExchange({}), BaseExchange({})]).schema_check() is None
    check = ChainExchange({}, [BaseExchange({}), Checked({}), BaseExchange({})]).schema_check()
    assert check is not None
    assert check() == REPAIRED


class Trying(Signed):
    """Wants another try, with the same request each time it is asked."""

    wanted: Row | None = None

    @property
    def replaced(self) -> Sequence[ReplacedAnswer]:
        return [ReplacedAnswer(CLEAN, {"by": self.name})]

    def next_request(self) -> Row | None:
        return self.wanted

    def settle(self) -> Sequence[Item]:
        return (Chunk.of({"path": [f"settled by {self.name}"]}),)


def trying(*names: str) -> tuple[ChainExchange, list[Trying]]:
    made: list[Trying] = []

    def make(name: str, request: Row) -> Exchange:
        made.append(Trying(name, request))
        return made[-1]

    class Makes(BaseTransformer):
        def __init__(self, name: str) -> None:
            self.name = name

        def begin(self, request: Row) -> Exchange:
            return make(self.name, request)

    chain = Chain([Makes(name) for name in names]).begin({})
    assert isinstance(chain, ChainExchange)
    return chain, made


def test_a_chain_that_wants_no_other_try() -> None:
    chain, _ = trying("a", "b")
    assert chain.next_request() is None
    assert [each.usage for each in chain.replaced] == [{"by": "a"}, {"by": "b"}]
    assert paths(chain.settle()) == [["settled by b", "a"], ["settled by a"]]


def test_another_try_begins_behind_the_exchange_that_wants_it() -> None:
    chain, made = trying("a", "b", "c")
    made[1].wanted = {"try": 2}
    assert chain.next_request() == chain.next_request() == {"try": 2, "path": ["c"]}
    assert [each.name for each in made] == ["a", "b", "c", "c"]
    assert list(chain.exchanges) == [made[0], made[1], made[3]]
    assert chain.reply({})["path"] == ["c", "b", "a"]


def test_another_try_of_the_last_exchange_is_sent_as_it_is() -> None:
    chain, made = trying("a", "b")
    made[1].wanted = {"try": 2}
    assert chain.next_request() is made[1].wanted
    assert list(chain.exchanges) == made


def test_a_chain_without_guards_is_made_once() -> None:
    plain, signing = Signing("plain"), Signing("a")

    class Guarding(BaseTransformer):
        unguarded = plain

    chain = Chain([signing, Guarding()])
    assert chain.unguarded.transformers == (signing, plain)
    assert chain.unguarded is chain.unguarded
