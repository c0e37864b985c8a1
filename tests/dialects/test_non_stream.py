"""A completion has the same blocks as a stream with the same content."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.chat_answers import USAGE, completion, custom_call, tool_call

from moongate.dialects.block_sequence import MAX_HELD
from moongate.dialects.non_stream import CompletionBlocks
from moongate.errors import BadUpstream


def blocks(reply: dict[str, Any]) -> list[tuple[str, ...]]:
    found = CompletionBlocks(reply)
    rows = [(block.kind, block.id, block.name, text) for block, text in zip(found.blocks, found.texts, strict=True)]
    return [tuple(part for part in row if part) for row in rows]


def test_everything_in_order() -> None:
    message = {"tool_calls": [tool_call("1", "f", "{}"), tool_call("2", "g", "")], "content": "t", "reasoning": "r"}
    found = CompletionBlocks(completion(message, "tool_calls"))
    assert (found.head.id, found.finish.reason, found.finish.usage) == ("chatcmpl-abc", "tool_calls", USAGE)
    assert blocks(completion(message)) == [
        ("reasoning", "r"),
        ("text", "t"),
        ("call", "1", "f", "{}"),
        ("call", "2", "g"),
    ]


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": [{"index": 1, "message": {"content": "second choice"}}]},
        completion({"content": "", "tool_calls": None}),
        completion({"content": None, "tool_calls": {"index": 0}}),
        completion({"content": None, "tool_calls": [None]}),
        {"choices": [{"message": "text"}], "usage": {}},
    ],
)
def test_empty_answers(reply: dict[str, Any]) -> None:
    found = CompletionBlocks(reply)
    assert (found.blocks, found.complete, found.finish.reason) == ([], 0, "stop")
    assert found.finish.usage in (None, USAGE)


def test_odd_calls() -> None:
    calls = [
        {"id": 3, "function": {"name": 3, "arguments": {"a": 1}}},
        {"function": "f"},
        {"id": "1", "function": {"name": "f"}},
    ]
    assert blocks(completion({"tool_calls": calls})) == [("call", '{"a":1}'), ("call",), ("call", "1", "f")]


@pytest.mark.parametrize(
    ("choice", "reason", "stop"),
    [
        ({"finish_reason": "stop", "stop_reason": "END"}, "stop", "END"),
        ({"finish_reason": 3}, "3", None),
        ({"finish_reason": "", "stop_reason": "END"}, "stop", None),
        ({"message": {"tool_calls": [{}]}}, "tool_calls", None),
    ],
)
def test_a_missing_finish_reason_is_filled_in(choice: dict[str, Any], reason: str, stop: str | None) -> None:
    finish = CompletionBlocks({"choices": [choice], "usage": "much"}).finish
    assert (finish.reason, finish.stop, finish.usage) == (reason, stop, None)


@pytest.mark.parametrize(
    ("message", "complete"),
    [
        ({"content": "t"}, 0),
        ({"content": "t", "reasoning": "r"}, 1),
        (
            {
                "content": "t",
                "tool_calls": [tool_call("1", "f", "{}"), tool_call("2", "g", "{"), tool_call("3", "h", "{}")],
            },
            2,
        ),
        ({"content": "t", "tool_calls": [tool_call("1", "", "{}"), tool_call("2", "g", "{}")]}, 0),
        ({"tool_calls": [tool_call("1", "f", "oops"), tool_call("2", "g", "{}")]}, 0),
        ({"tool_calls": [tool_call("1", "f", "{}"), tool_call("2", "g", "{}")]}, 1),
    ],
)
def test_blocks_that_end_before_the_answer(message: dict[str, Any], complete: int) -> None:
    assert CompletionBlocks(completion(message)).complete == complete


def test_surrogate_halves_are_one_character() -> None:
    parts = [{"text": "é\ud83d"}, {"text": "\ude00"}]
    assert blocks(completion({"content": parts})) == [("text", "é😀")]
    assert blocks(completion({"content": "a\ud83d"})) == [("text", "a\ud83d")]


def test_held_back_arguments_have_a_limit() -> None:
    half = "." * (MAX_HELD // 2 - 2)
    held = [tool_call("1", "f", "{"), tool_call("2", "g", "{" + half + "}"), tool_call("3", "h", "{" + half + "}")]
    assert len(CompletionBlocks(completion({"tool_calls": held})).blocks) == 3
    with pytest.raises(BadUpstream):
        CompletionBlocks(completion({"tool_calls": [*held, tool_call("4", "i", "{...}")]}))
    released = [tool_call(str(number), "f", "{" + half + "}") for number in range(4)]
    assert len(CompletionBlocks(completion({"tool_calls": released})).blocks) == 4


def test_custom_calls() -> None:
    message = {"tool_calls": [custom_call("1", "f", 'a"é'), custom_call("2", "g", ""), tool_call("3", "h", "{}")]}
    assert blocks(completion(message)) == [
        ("call", "1", "f", '{"input":"a\\"é"}'),
        ("call", "2", "g", '{"input":""}'),
        ("call", "3", "h", "{}"),
    ]
