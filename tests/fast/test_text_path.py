"""Text chunks of one envelope, past an exchange, into a front's stream."""

from __future__ import annotations

from typing import Any

from tests.kimi.answering import K2, PARSING, REQUEST, begin

from moongate import KimiTransformer
from moongate.chat.items import Chunk
from moongate.dialects.fronts import CHAT, MESSAGES
from moongate.fast.envelope import EnvelopeLearner
from moongate.fast.shortcuts import shortcut_of
from moongate.fast.text_path import TextPath
from moongate.fast.writers import TextWriter, writer_of
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.guard.exchange import GuardedExchange

Row = dict[str, Any]


def chunk(text: str, **more: Any) -> Chunk:
    body = {"id": "c", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}], **more}
    return Chunk(body, Chunk.of(body).encode())


def path(options: Row | None = None, first: str = "a", **more: Any) -> tuple[TextPath, KimiExchange]:
    exchange = begin(options)
    exchange.feed(chunk(first))
    envelope = EnvelopeLearner().learn(chunk("a", **more))
    shortcut, writer = shortcut_of(exchange), writer_of(CHAT.encoder({}))
    assert envelope is not None
    assert shortcut is not None
    assert writer is not None
    return TextPath(envelope, shortcut, writer), exchange


def blocks() -> tuple[TextPath, TextWriter]:
    """The same into a front of blocks, none of which is open."""
    exchange = begin()
    exchange.feed(chunk("a"))
    envelope = EnvelopeLearner().learn(chunk("a"))
    shortcut, writer = shortcut_of(exchange), writer_of(MESSAGES.encoder({"messages": []}))
    assert envelope is not None
    assert shortcut is not None
    assert writer is not None
    return TextPath(envelope, shortcut, writer), writer


def raw(text: str) -> bytes:
    return chunk(text).encode()


def test_text_that_passes_opens_the_pass_through() -> None:
    found, _ = path()
    assert found.pass_through is None
    assert found.feed(raw("")) == raw("")
    assert found.pass_through is None, "an empty text shows nothing"
    assert found.feed(raw("b") + raw("c")) == raw("b") + raw("c")
    passing = found.pass_through
    assert passing is not None
    assert found.feed(raw("d")) == raw("d")
    assert found.pass_through is passing
    assert found.envelope.used
    assert passing.matcher.text(chunk("x").encode(), passing.prefix) == b"x"


def test_after_something_else_it_opens_if_the_next_text_may_pass() -> None:
    found, exchange = path(PARSING)
    found.update_pass_through()
    assert found.pass_through is not None
    exchange.feed(chunk("<"))
    found.update_pass_through()
    assert found.pass_through is None


def test_text_that_may_not_pass_is_rewritten() -> None:
    found, _ = path(PARSING)
    found.update_pass_through()
    assert found.feed_rewriter(raw("b<")) is None, "text passes until one does not"
    assert found.feed(raw("b<")) == raw("b")
    assert found.pass_through is None
    assert found.feed_rewriter(raw("b<")) == raw("<b")
    assert found.feed(raw("") + raw("c<") + raw("d")) == raw("") + raw("<c") + raw("<d")
    assert found.pass_through is None, "what was held back has left, and nothing has passed yet"
    assert found.feed(raw("x")) == raw("x")
    assert found.pass_through is not None
    assert found.feed(raw("x") + raw("y<")) == raw("x") + raw("y")
    assert found.pass_through is None, "the last text decides"


def test_text_that_may_not_pass_and_cannot_be_rewritten_is_left_to_the_plain_way() -> None:
    found, _ = path(PARSING, provider_note=1)
    other = chunk("b<", provider_note=1).encode()
    assert found.feed(other) is None
    assert found.feed(other + other) is None


def test_text_behind_a_call_that_waits_for_more_of_its_name_is_left_to_the_plain_way() -> None:
    found, exchange = path(PARSING)
    assert found.feed(raw("b<")) == raw("b"), "from here on texts are rewritten"
    assert found.feed(raw("c")) == raw("<c")
    entry = {"index": 0, "id": "x", "type": "function", "function": {"name": "ba"}}
    exchange.feed(Chunk.of({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": None}]}))
    assert found.feed(raw("b")) is None
    assert found.feed(raw("b") + raw("c")) is None
    assert found.feed_rewriter(raw("b")) is None


def test_anything_else_is_left_to_the_plain_way() -> None:
    for options in ({}, PARSING):
        found, _ = path(options)
        odd = [raw("a") + b": ping\n\n" + raw("b"), raw("a")[:-1], raw("a").replace(b'"a"', b'"a\\"'), b": ping\n\n"]
        odd.append(raw("a") + raw("b").replace(b'"b"', rb'"\x"'))
        for data in (*odd, raw("<"), *odd):
            assert (found.feed(data) is None) is (data != raw("<"))


def test_half_a_character_is_not_put_into_an_open_block() -> None:
    found, _ = blocks()
    assert found.feed(raw("b"))
    assert found.pass_through is not None
    half = raw("x").replace(b'"x"', rb'"\ud83d"')
    assert found.feed(half) == b""
    assert found.pass_through is None
    assert "\U0001f600".encode() in (found.feed(raw("x").replace(b'"x"', rb'"\ude00"')) or b"")


def test_a_front_that_has_no_open_block_is_not_passed_through() -> None:
    found, _ = blocks()
    found.update_pass_through()
    assert found.pass_through is None
    assert found.feed(raw("b"))
    assert found.pass_through is not None
    assert found.pass_through.write is not None


def test_text_that_passes_the_guard_is_kept_for_another_try() -> None:
    exchange = KimiTransformer.from_config({"guard": "retry"}, model=K2).begin(REQUEST)
    assert isinstance(exchange, GuardedExchange)
    exchange.feed(chunk("a"))
    envelope = EnvelopeLearner().learn(chunk("a"))
    shortcut, writer = shortcut_of(exchange), writer_of(CHAT.encoder({}))
    assert envelope is not None
    assert shortcut is not None
    assert writer is not None
    found = TextPath(envelope, shortcut, writer)
    assert found.feed(raw("b") + raw("")) == raw("b") + raw("")
    assert found.feed(raw("c")) == raw("c")
    assert exchange.current.choice(0).message()["content"] == "abc"
