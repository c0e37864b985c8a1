"""Which texts may pass an exchange unread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.kimi.answering import K2, K3, PARSING, REQUEST, begin

from moongate import KimiTransformer
from moongate.chat.base import BaseExchange, BaseTransformer
from moongate.chat.contracts import Exchange
from moongate.chat.items import Chunk, Done, Item
from moongate.chat.verdict import CLEAN
from moongate.fast.envelope import ChunkEnvelope, EnvelopeLearner
from moongate.fast.shortcuts import TextShortcut, shortcut_of
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.guard.exchange import GuardedExchange
from moongate.kimi.property_exchange import PropertyRestoringExchange
from moongate.pipeline.chain import Chain, ChainExchange

Row = dict[str, Any]


def chunk(text: str, field: str = "content", **more: Any) -> Chunk:
    body = {"id": "c", "choices": [{"index": 0, "delta": {field: text}, "finish_reason": None}], **more}
    return Chunk(body, Chunk.of(body).encode())


def envelope(field: str = "content", **more: Any) -> ChunkEnvelope:
    found = EnvelopeLearner().learn(chunk("a", field, **more))
    assert found is not None
    return found


CONTENT, REASONING = envelope(), envelope("reasoning")


def known(exchange: Exchange) -> TextShortcut:
    found = shortcut_of(exchange)
    assert found is not None
    return found


def begun(options: Row | None = None, *texts: str) -> tuple[TextShortcut, KimiExchange]:
    exchange = begin(options)
    for text in texts or ("a",):
        exchange.feed(chunk(text))
    return known(exchange), exchange


def test_text_passes_unless_a_marker_may_be_in_it() -> None:
    shortcut, exchange = begun()
    assert shortcut.stops == b"<"
    assert shortcut.passes(CONTENT, b"b")
    assert not shortcut.passes(CONTENT, b"a < b")
    shortcut.passed(CONTENT, b"b")  # without a parser nobody has to know
    assert shortcut.passes(CONTENT, b"b")
    exchange.feed(chunk("<|tool"))
    assert not shortcut.passes(CONTENT, b"b"), "a marker may go on"
    assert shortcut.passes(REASONING, b"b")


def test_text_passes_a_parser_between_markers() -> None:
    shortcut, exchange = begun(PARSING, "")
    assert not shortcut.passes(CONTENT, b"b"), "a think tag may be at the very start"
    exchange.feed(chunk("a"))
    assert shortcut.passes(CONTENT, b"b")
    assert not shortcut.passes(CONTENT, b"`"), "a tag in a code span stays"
    assert not shortcut.passes(REASONING, b"b"), "the field changes"
    exchange.feed(chunk("b", field="reasoning"))
    assert shortcut.passes(REASONING, b"b")
    exchange.feed(chunk("<|tool_call_begin|>"))
    assert not shortcut.passes(CONTENT, b"b")


def test_text_does_not_pass_a_call_that_waits_for_more_of_its_name() -> None:
    shortcut, exchange = begun(PARSING)
    entry = {"index": 0, "id": "x", "type": "function", "function": {"name": "ba"}}
    exchange.feed(Chunk.of({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": None}]}))
    assert not shortcut.passes(CONTENT, b"b")
    rewriter = shortcut.rewriter(CONTENT)
    assert rewriter is not None
    assert not rewriter.ready
    exchange.feed(chunk("b"))
    assert shortcut.passes(CONTENT, b"b")
    assert rewriter.ready


def test_the_first_content_has_to_be_seen() -> None:
    shortcut, exchange = begun(PARSING, "<think>a</think>", "<think>")
    assert not exchange.choices[0].has_content
    assert not shortcut.passes(CONTENT, b""), "the next text, unseen, would not count as content"
    assert shortcut.passes(CONTENT, b"a")
    assert exchange.choices[0].has_content
    assert shortcut.passes(CONTENT, b"")


def test_behind_the_finish_text_passes() -> None:
    shortcut, exchange = begun(PARSING)
    exchange.feed(Chunk.of({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    assert shortcut.passes(CONTENT, b"a")


def test_text_of_an_unseen_choice_and_text_that_is_assembled_have_to_be_seen() -> None:
    assert not known(begin()).passes(CONTENT, b"a")
    assert not begun({"assembleToolDeltas": True})[0].passes(CONTENT, b"a")


def test_configured_markers_stop_text() -> None:
    own, _ = begun({"toolTokens": {"callBegin": "[[CALL]]"}})
    assert own.stops == b"<["
    assert own.passes(CONTENT, b"b")
    assert not own.passes(CONTENT, b"[")


@pytest.mark.parametrize("token", ["é", "/a", '"a', "\\a", "\na"])
def test_no_shortcut_where_json_may_write_the_beginning_of_a_marker_in_several_ways(token: str) -> None:
    assert shortcut_of(begin({"toolTokens": {"callBegin": token}})) is None


def test_only_bare_chunks_are_rewritten() -> None:
    shortcut, _ = begun(PARSING)
    assert shortcut.rewriter(CONTENT) is not None
    assert shortcut.rewriter(envelope(provider_note=1)) is None


class Looking(BaseExchange):
    def chunk(self, payload: Row) -> Row:
        return payload


class Holding(BaseExchange):
    def feed(self, item: Item) -> Sequence[Item]:
        return ()


class Ending(BaseExchange):
    """Does not look at chunks."""

    def close(self) -> Sequence[Item]:
        return (Done(),)


class Foreign:
    """An exchange without our base class."""

    notes: Sequence[Any] = ()
    verdict = CLEAN
    replaced: Sequence[Any] = ()
    assembles_calls, accepts_late_ids = False, True

    def __init__(self) -> None:
        self.request: Row = {}

    def schema_check(self) -> None:
        return None

    def next_request(self) -> None:
        return None

    def settle(self) -> Sequence[Item]:
        return ()

    def reply(self, body: Row) -> Row:
        return body

    def feed(self, item: Item) -> Sequence[Item]:
        return (item,)

    def close(self) -> Sequence[Item]:
        return ()


def test_an_exchange_that_does_not_look_at_chunks_lets_all_text_pass() -> None:
    for exchange in (BaseExchange({}), Ending({})):
        shortcut = known(exchange)
        assert shortcut.stops == b""
        assert shortcut.passes(CONTENT, b"a < b")
        assert shortcut.rewriter(CONTENT) is None


def test_exchanges_of_other_people_have_no_shortcut() -> None:
    assert shortcut_of(Looking({})) is shortcut_of(Holding({})) is shortcut_of(Foreign()) is None


def test_a_chain_lets_pass_what_all_of_it_lets_pass() -> None:
    exchange = begin(PARSING)
    exchange.feed(chunk("a"))
    shortcut = known(ChainExchange({}, [BaseExchange({}), exchange]))
    assert shortcut.stops == b"<`"
    assert shortcut.passes(CONTENT, b"a")
    shortcut.passed(CONTENT, b"a")
    (left,) = exchange.feed(chunk("</think>b"))
    assert isinstance(left, Chunk)
    assert left.payload["choices"][0]["delta"]["content"] == "\n\nb"
    assert not shortcut.passes(CONTENT, b"<")
    assert shortcut.rewriter(CONTENT) is None
    assert shortcut_of(ChainExchange({}, [Looking({}), exchange])) is None
    assert shortcut_of(Chain([BaseTransformer(), BaseTransformer()]).begin({})) is not None


def test_an_exchange_that_restores_property_names_sees_every_chunk() -> None:
    parameters = {"type": "object", "properties": {"required": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "bash", "parameters": parameters}}]
    request = {"messages": [{"role": "user", "content": "Go."}], "tools": tools}
    exchange = begin(request=request, base_url="https://api.moonshot.ai/v1")
    assert type(exchange) is PropertyRestoringExchange
    assert shortcut_of(exchange) is None


def test_k3_has_the_same_shortcut() -> None:
    exchange = begin(PARSING, model=K3)
    exchange.feed(chunk("a"))
    assert known(exchange).passes(CONTENT, b"b")


def guarded(guard: str) -> GuardedExchange:
    transformer = KimiTransformer.from_config({"preset": "agent", "guard": guard}, model=K2)
    exchange = transformer.begin(REQUEST)
    assert isinstance(exchange, GuardedExchange)
    return exchange


def test_text_passes_the_guard_as_without_it_and_is_kept_for_another_try() -> None:
    for guard, keeps in (("repair", False), ("retry", True)):
        exchange = guarded(guard)
        exchange.feed(chunk("a"))
        shortcut = known(exchange)
        assert shortcut.passes(CONTENT, b"b")
        assert not shortcut.passes(CONTENT, b"<")
        assert shortcut.rewriter(CONTENT) is None
        shortcut.passed(CONTENT, b"b")
        keep = shortcut.keeper(CONTENT)
        chained = known(ChainExchange({}, [BaseExchange({}), exchange])).keeper(CONTENT)
        assert (keep is not None) is (chained is not None) is keeps


def test_further_tries_have_no_shortcut() -> None:
    exchange = guarded("retry")
    shortcut = known(exchange)
    exchange.feed(Done())
    assert exchange.next_request() is not None
    assert not shortcut.passes(CONTENT, b"b")
    reserved = {"name": "f", "parameters": {"type": "object", "properties": {"required": {"type": "string"}}}}
    renamed = {"messages": REQUEST["messages"], "tools": [{"type": "function", "function": reserved}]}
    transformer = KimiTransformer.from_config({"guard": "retry", "schemaRules": "always"}, model=K2)
    assert shortcut_of(transformer.begin(renamed)) is None
    odd = KimiTransformer.from_config({"guard": "repair", "toolTokens": {"callBegin": '"x"'}}, model=K2)
    assert shortcut_of(odd.begin(REQUEST)) is None
