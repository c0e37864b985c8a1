from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.talk import called, whole

from moongate.dialects.messages.whole import message
from moongate.errors import BadUpstream

ASKED = {"model": "claude-x"}


def test_an_answer_with_everything() -> None:
    reply = whole(
        {
            "reasoning_content": "hm",
            "content": "Look.",
            "tool_calls": [called("functions.ls:0", "ls", '{"a": 1}'), called("functions.cat:1", "cat", "{}")],
        },
        "tool_calls",
    )
    found = message(reply, ASKED)
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
    found = message(whole({"tool_calls": [called("1", "f", arguments)]}, "length"), ASKED)
    assert found["content"][0]["input"] == value


def test_an_answer_without_choices() -> None:
    found = message({"id": "x"}, ASKED)
    assert (found["content"], found["stop_reason"]) == ([], "end_turn")


def test_nothing_in_a_whole_answer_can_be_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moongate.dialects.blocks.MAX_HELD", 3)
    calls = [called("1", "f", "oops"), called("2", "g", "{...}")]
    with pytest.raises(BadUpstream):
        message(whole({"tool_calls": calls}), ASKED)
