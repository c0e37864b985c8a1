"""A whole answer is the blocks that a stream of it would be."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.talk import USAGE, called, whole

from moongate.dialects.whole import Whole
from moongate.errors import BadUpstream


def blocks(reply: dict[str, Any]) -> list[tuple[str, ...]]:
    found = [(block.kind, block.id, block.name, *block.pieces) for block in Whole(reply).blocks]
    return [tuple(part for part in block if part) for block in found]


def test_everything_in_order() -> None:
    message = {"tool_calls": [called("1", "f", "{}"), called("2", "g", "")], "content": "t", "reasoning": "r"}
    found = Whole(whole(message, "tool_calls"))
    assert (found.head.id, found.finish.reason, found.finish.usage) == ("chatcmpl-abc", "tool_calls", USAGE)
    assert blocks(whole(message)) == [("reasoning", "r"), ("text", "t"), ("call", "1", "f", "{}"), ("call", "2", "g")]


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": [{"index": 1, "message": {"content": "second choice"}}]},
        whole({"content": "", "tool_calls": None}),
        whole({"content": None, "tool_calls": {"index": 0}}),
        whole({"content": None, "tool_calls": [None]}),
        {"choices": [{"message": "text"}], "usage": {}},
    ],
)
def test_nothing_is_said(reply: dict[str, Any]) -> None:
    found = Whole(reply)
    assert (found.blocks, found.over, found.finish.reason) == ([], 0, "stop")
    assert found.finish.usage in (None, USAGE)


def test_odd_calls() -> None:
    calls = [
        {"id": 3, "function": {"name": 3, "arguments": {"a": 1}}},
        {"function": "f"},
        {"id": "1", "function": {"name": "f"}},
    ]
    assert blocks(whole({"tool_calls": calls})) == [("call", '{"a":1}'), ("call",), ("call", "1", "f")]


@pytest.mark.parametrize(
    ("choice", "reason", "stop"),
    [
        ({"finish_reason": "stop", "stop_reason": "END"}, "stop", "END"),
        ({"finish_reason": 3}, "3", None),
        ({"finish_reason": "", "stop_reason": "END"}, "stop", None),
        ({"message": {"tool_calls": [{}]}}, "tool_calls", None),
    ],
)
def test_the_end_without_a_reason_gets_one(choice: dict[str, Any], reason: str, stop: str | None) -> None:
    finish = Whole({"choices": [choice], "usage": "much"}).finish
    assert (finish.reason, finish.stop, finish.usage) == (reason, stop, None)


@pytest.mark.parametrize(
    ("message", "over"),
    [
        ({"content": "t"}, 0),
        ({"content": "t", "reasoning": "r"}, 1),
        ({"content": "t", "tool_calls": [called("1", "f", "{}"), called("2", "g", "{"), called("3", "h", "{}")]}, 2),
        ({"content": "t", "tool_calls": [called("1", "", "{}"), called("2", "g", "{}")]}, 0),
        ({"tool_calls": [called("1", "f", "oops"), called("2", "g", "{}")]}, 0),
        ({"tool_calls": [called("1", "f", "{}"), called("2", "g", "{}")]}, 1),
    ],
)
def test_what_is_over_before_the_end(message: dict[str, Any], over: int) -> None:
    assert Whole(whole(message)).over == over


def test_two_halves_are_one_character() -> None:
    parts = [{"text": "é\ud83d"}, {"text": "\ude00"}]
    assert blocks(whole({"content": parts})) == [("text", "é😀")]
    assert blocks(whole({"content": "a\ud83d"})) == [("text", "a\ud83d")]


def test_what_waits_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moongate.dialects.blocks.MAX_HELD", 4)
    waits = [called("1", "f", "{..."), called("2", "g", "{}"), called("3", "h", "{}")]
    assert len(Whole(whole({"tool_calls": waits})).blocks) == 3
    with pytest.raises(BadUpstream):
        Whole(whole({"tool_calls": [*waits, called("4", "i", "{}")]}))
    goes = [called("1", "f", "{..}"), called("2", "g", "{..}"), called("3", "h", "{..}")]
    assert len(Whole(whole({"tool_calls": goes})).blocks) == 3
