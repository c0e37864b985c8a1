"""A block behind a callBegin becomes a call, or stays text."""

from __future__ import annotations

import pytest

from moongate.kimi.headers import read_header
from moongate.kimi.k2_block import Block, Desk, Fate, bare_call
from moongate.kimi.offer import Offer, ToolKeys
from moongate.kimi.options import K2_TOKENS
from moongate.kimi.pieces import CallArguments, CallClosed, CallOpened, Dropped, Text, WholeCalls
from moongate.kimi.visible import FORBIDDEN, Visible

OFFER = Offer(
    {
        "bash": ToolKeys(frozenset({"command"}), frozenset({"command"})),
        "time": ToolKeys(frozenset({"zone"})),
    }
)
NO_CALLS = Offer(OFFER.tools, calls_allowed=False)
ARGS, END = K2_TOKENS.arg_begin, K2_TOKENS.call_end


def desk(offer: Offer = OFFER, mend: bool = False) -> Desk:
    return Desk(offer, Visible("content"), mend)


def block(header: str, at: Desk) -> Block:
    return Block(f"({header}:", read_header(header, at.offer), at)


@pytest.mark.parametrize(
    ("header", "offer", "fate"),
    [
        ("bash:0", OFFER, Fate.CALL),
        ("warp:0", OFFER, Fate.CALL),
        ("7", OFFER, Fate.LATE),
        ("warp", OFFER, Fate.TEXT),
        ("bash:0", NO_CALLS, Fate.GONE),
        ("warp", NO_CALLS, Fate.GONE),
    ],
)
def test_fate(header: str, offer: Offer, fate: Fate) -> None:
    assert block(header, desk(offer)).fate is fate


def test_a_call_leaves_as_it_comes() -> None:
    at = desk()
    call = block("functions.bash:0", at)
    assert at.visible.take() == [CallOpened("functions.bash:0", "bash")]
    call.feed('{"command": ')
    call.feed(ARGS, marker=True)
    assert at.visible.take() == [CallArguments(f'{{"command": {ARGS}')]
    assert call.end(END)
    assert at.visible.take() == [CallClosed()]


def test_a_late_call_leaves_when_its_keys_are_known() -> None:
    at = desk()
    call = block("7", at)
    call.feed(' {"command": "ls"} ')
    assert at.visible.take() == []
    assert call.end(END)
    assert at.visible.take() == [WholeCalls([("7", "bash", '{"command": "ls"}')])]


@pytest.mark.parametrize("arguments", [' {"x": 1} ', "[1]", '{"command": '])
def test_a_late_call_that_fits_no_tool_is_text(arguments: str) -> None:
    at = desk()
    call = block("7", at)
    call.feed(arguments)
    assert not call.end(END)
    assert at.visible.take() == [Text("content", f"(7:{arguments}{END}")]


def test_a_late_call_without_arguments() -> None:
    at = desk()
    assert block("7", at).end(END)
    assert at.visible.take() == [WholeCalls([("7", "time", "{}")])]


def test_text_is_shown_at_once() -> None:
    at = desk()
    call = block("warp", at)
    call.feed(" {} ")
    assert at.visible.take() == [Text("content", "(warp: {} ")]
    assert not call.end("")
    assert at.visible.take() == []
    assert not call.end(END)
    assert at.visible.take() == [Text("content", END)]


def test_a_call_that_may_not_be_made() -> None:
    at = desk(NO_CALLS)
    call = block("bash:0", at)
    call.feed('{"command": "ls"}')
    assert call.end(END)
    assert at.visible.take() == [Dropped("(bash:0:", FORBIDDEN)]


@pytest.mark.parametrize(
    ("header", "shown"), [("bash:0", [CallArguments('"a)b"')]), ("warp", [Text("content", '"a)b"')])]
)
def test_doubted_text_leaves_when_it_is_accepted(header: str, shown: list[object]) -> None:
    at = desk()
    call = block(header, at)
    at.visible.take()
    call.doubt()
    call.feed('"a)b"')
    assert at.visible.take() == []
    call.accept('"a)b"')
    assert at.visible.take() == shown


def test_doubted_text_of_a_late_call() -> None:
    at = desk()
    call = block("7", at)
    call.feed('{"command": "')
    call.doubt()
    call.feed(f'{END}"}}')
    call.accept(f'{END}"}}')
    assert call.end(END)
    assert at.visible.take() == [WholeCalls([("7", "bash", f'{{"command": "{END}"}}')])]


def test_doubted_text_is_gone_when_it_is_retracted() -> None:
    at = desk()
    call = block("bash:0", at)
    call.feed('{"a')
    call.doubt()
    call.feed(END)
    call.retract()
    call.end(END)
    assert at.visible.take() == [WholeCalls([("bash:0", "bash", '{"a')])]


@pytest.mark.parametrize(("arguments", "cut"), [('{"a": 1}', False), ('{"a', True), ("", False)])
def test_at_the_end_of_the_text_a_call_may_be_cut(arguments: str, cut: bool) -> None:
    at = desk()
    call = block("bash:0", at)
    at.visible.take()
    call.feed(arguments)
    call.end_of_text("<|tool")
    assert at.visible.take() == [CallArguments(arguments or "{}"), CallClosed(cut)]


def test_at_the_end_of_the_text_a_piece_of_a_marker_is_shown_with_text() -> None:
    at = desk()
    block("warp", at).end_of_text("<|tool")
    assert at.visible.take() == [Text("content", "(warp:<|tool")]


@pytest.mark.parametrize(
    ("header", "offer", "made"),
    [
        ("time", OFFER, True),
        (" functions.time:3 ", OFFER, True),
        ("warp:0", OFFER, False),
        ("7", OFFER, False),
        ("", OFFER, False),
        ("time", NO_CALLS, True),
        ("warp:0", NO_CALLS, True),
        ("and so on", NO_CALLS, False),
    ],
)
def test_a_header_without_arguments(header: str, offer: Offer, made: bool) -> None:
    at = desk(offer)
    assert bare_call(header, at) is made
    expected: list[object] = []
    if made:
        expected = [WholeCalls([(header.strip(), "time", "{}")])]
        expected = expected if offer is OFFER else [Dropped(header, FORBIDDEN)]
    assert at.visible.take() == expected
