"""A block behind a callBegin becomes a call, or stays text."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.call_headers import read_header
from moongate.kimi.markers.k2_block import BlockContext, CallBlock, Outcome, read_bare_call
from moongate.kimi.markers.piece_builder import FORBIDDEN, PieceBuilder
from moongate.kimi.markers.pieces import CallArguments, CallClosed, CallOpened, Dropped, Text, WholeCalls
from moongate.kimi.tool_set import ToolKeys, ToolSet
from moongate.kimi.tool_tokens import K2_TOKENS

TOOL_SET = ToolSet(
    {
        "bash": ToolKeys(frozenset({"command"}), frozenset({"command"})),
        "time": ToolKeys(frozenset({"zone"})),
    }
)
NO_CALLS = ToolSet(TOOL_SET.tools, calls_allowed=False)
ARGS, END = K2_TOKENS.arg_begin, K2_TOKENS.call_end


def context(tool_set: ToolSet = TOOL_SET, repair: bool = False) -> BlockContext:
    return BlockContext(tool_set, PieceBuilder("content"), repair)


def block(header: str, at: BlockContext) -> CallBlock:
    return CallBlock(f"({header}:", read_header(header, at.tool_set), at)


@pytest.mark.parametrize(
    ("header", "tool_set", "outcome"),
    [
        ("bash:0", TOOL_SET, Outcome.CALL),
        ("warp:0", TOOL_SET, Outcome.CALL),
        ("7", TOOL_SET, Outcome.BY_KEYS),
        ("warp", TOOL_SET, Outcome.TEXT),
        ("bash:0", NO_CALLS, Outcome.DROPPED),
        ("warp", NO_CALLS, Outcome.DROPPED),
    ],
)
def test_outcome(header: str, tool_set: ToolSet, outcome: Outcome) -> None:
    assert block(header, context(tool_set)).outcome is outcome


def test_a_call_comes_out_as_it_streams() -> None:
    at = context()
    call = block("functions.bash:0", at)
    assert at.builder.take() == [CallOpened("functions.bash:0", "bash")]
    call.feed('{"command": ')
    call.feed(ARGS, marker=True)
    assert at.builder.take() == [CallArguments(f'{{"command": {ARGS}')]
    assert call.end()
    assert at.builder.take() == [CallClosed()]


def test_a_call_named_by_its_keys_comes_out_as_a_whole() -> None:
    at = context()
    call = block("7", at)
    call.feed(' {"command": "ls"} ')
    assert at.builder.take() == []
    assert call.end()
    assert at.builder.take() == [WholeCalls([("7", "bash", '{"command": "ls"}')])]


@pytest.mark.parametrize("arguments", [' {"x": 1} ', "[1]", '{"command": '])
def test_a_call_whose_keys_match_no_tool_is_text(arguments: str) -> None:
    at = context()
    call = block("7", at)
    call.feed(arguments)
    assert not call.end()
    assert at.builder.take() == []
    assert call.raw == [("content", arguments)]


def test_a_call_named_by_its_keys_without_arguments() -> None:
    at = context()
    assert block("7", at).end()
    assert at.builder.take() == [WholeCalls([("7", "time", "{}")])]


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ('{"command": "ls"}', [WholeCalls([("7", "bash", '{"command": "ls"}')])]),
        (" ", [CallOpened("7", "time"), CallArguments("{}"), CallClosed(truncated=True)]),
    ],
)
def test_at_the_end_of_the_text_a_call_named_by_its_keys_is_cut_if_nothing_came(
    arguments: str, left: list[object]
) -> None:
    at = context()
    call = block("7", at)
    call.feed(arguments)
    assert call.end_of_text()
    assert at.builder.take() == left


def test_text_comes_out_at_once() -> None:
    at = context()
    call = block("warp", at)
    call.feed(" {} ")
    assert at.builder.take() == [Text("content", " {} ")]
    assert not call.end()
    assert at.builder.take() == []


def test_a_call_that_is_not_allowed() -> None:
    at = context(NO_CALLS)
    call = block("bash:0", at)
    call.feed('{"command": "ls"}')
    assert call.end()
    assert at.builder.take() == [Dropped("(bash:0:", FORBIDDEN)]


@pytest.mark.parametrize(
    ("header", "shown"), [("bash:0", [CallArguments('"a)b"')]), ("warp", [Text("content", '"a)b"')])]
)
def test_uncommitted_text_comes_out_on_commit(header: str, shown: list[object]) -> None:
    at = context()
    call = block(header, at)
    at.builder.take()
    call.savepoint()
    call.feed('"a)b"')
    assert at.builder.take() == []
    call.commit('"a)b"')
    assert at.builder.take() == shown


def test_uncommitted_text_of_a_call_named_by_its_keys() -> None:
    at = context()
    call = block("7", at)
    call.feed('{"command": "')
    call.savepoint()
    call.feed(f'{END}"}}')
    call.commit(f'{END}"}}')
    assert call.end()
    assert at.builder.take() == [WholeCalls([("7", "bash", f'{{"command": "{END}"}}')])]


def test_uncommitted_text_is_dropped_on_rollback() -> None:
    at = context()
    call = block("bash:0", at)
    call.feed('{"a')
    call.savepoint()
    call.feed(END)
    call.rollback()
    call.end()
    assert at.builder.take() == [WholeCalls([("bash:0", "bash", '{"a')])]


@pytest.mark.parametrize(("arguments", "truncated"), [('{"a": 1}', False), ('{"a', True), ("", True)])
def test_at_the_end_of_the_text_a_call_may_be_truncated(arguments: str, truncated: bool) -> None:
    at = context()
    call = block("bash:0", at)
    at.builder.take()
    call.feed(arguments)
    assert call.end_of_text()
    assert at.builder.take() == [CallArguments(arguments or "{}"), CallClosed(truncated)]


def test_at_the_end_of_the_text_a_block_that_is_text_is_none() -> None:
    at = context()
    assert not block("warp", at).end_of_text()
    assert at.builder.take() == []


@pytest.mark.parametrize(
    ("header", "tool_set", "made"),
    [
        ("time", TOOL_SET, True),
        (" functions.time:3 ", TOOL_SET, True),
        ("warp:0", TOOL_SET, False),
        ("7", TOOL_SET, False),
        ("", TOOL_SET, False),
        ("time", NO_CALLS, True),
        ("warp:0", NO_CALLS, True),
        ("and so on", NO_CALLS, False),
    ],
)
def test_a_header_without_arguments(header: str, tool_set: ToolSet, made: bool) -> None:
    at = context(tool_set)
    assert read_bare_call(header, at) is made
    expected: list[object] = []
    if made:
        expected = [WholeCalls([(header.strip(), "time", "{}")])]
        expected = expected if tool_set is TOOL_SET else [Dropped(header, FORBIDDEN)]
    assert at.builder.take() == expected
