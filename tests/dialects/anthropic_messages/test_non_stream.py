from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.chat_answers import completion, custom_call, tool_call

from moongate.dialects.anthropic_messages.non_stream import message
from moongate.dialects.block_sequence import MAX_HELD
from moongate.errors import BadUpstream

REQUEST = {"model": "claude-x"}


def test_an_answer_with_everything() -> None:
    reply = completion(
        {
            "reasoning_content": "hm",
            "content": "Look.",
            "tool_calls": [tool_call("functions.ls:0", "ls", '{"a": 1}'), tool_call("functions.cat:1", "cat", "{}")],
        },
        "tool_calls",
    )
    found = message(reply, REQUEST)
    assert found["content"][0].pop("signature")
    assert found == {
        "id": "msg_abc",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "functions--ls--0", "name": "ls", "input": {"a": 1}},
            {"type": "tool_use", "id": "functions--cat--1", "name": "cat", "input": {}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 15,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 5,
            "output_tokens": 7,
        },
    }


@pytest.mark.parametrize(
    ("arguments", "value"),
    [("", {}), ('{"a": [1, "b', {"a": [1]}), ('"{\\"a\\":1}"', {"a": 1}), ("[1]", {"arguments": [1]})],
)
def test_input_is_always_an_object(arguments: str, value: dict[str, Any]) -> None:
    found = message(completion({"tool_calls": [tool_call("1", "f", arguments)]}, "length"), REQUEST)
    assert found["content"][0]["input"] == value


def test_an_answer_without_choices() -> None:
    found = message({"id": "x"}, REQUEST)
    assert (found["content"], found["stop_reason"]) == ([], "end_turn")


def test_held_back_arguments_have_a_limit() -> None:
    calls = [tool_call("1", "f", "oops"), tool_call("2", "g", "x" * (MAX_HELD + 1))]
    with pytest.raises(BadUpstream):
        message(completion({"tool_calls": calls}), REQUEST)


def test_a_custom_call_has_its_text_as_input() -> None:
    found = message(completion({"tool_calls": [custom_call("1", "f", "{ no JSON")]}, "tool_calls"), REQUEST)
    assert found["content"] == [{"type": "tool_use", "id": "1", "name": "f", "input": {"input": "{ no JSON"}}]
