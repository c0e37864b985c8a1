from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.dialects.openai_responses.request import chat_request, left_out
from moongate.errors import BadRequest

RECORDED = Path(__file__).parents[1] / "recordings" / "codex.json"
FUNCTION = {"type": "function", "name": "f"}


def fields(**body: Any) -> dict[str, Any]:
    """The fields of the chat request other than its model and messages."""
    request = chat_request({"model": "m", "input": "hi", **body})
    assert request.pop("model") == "m"
    assert request.pop("messages") == [{"role": "user", "content": "hi"}]
    return request


def test_a_recorded_request_of_codex() -> None:
    body = json.loads(RECORDED.read_text(encoding="utf-8"))["body"]
    before = json.dumps(body)
    request = chat_request(body)
    assert json.dumps(body) == before
    assert sorted(request) == sorted(
        [
            "model",
            "messages",
            "tools",
            "tool_choice",
            "parallel_tool_calls",
            "prompt_cache_key",
            "stream",
            "stream_options",
        ]
    )
    assert [message["role"] for message in request["messages"]] == ["system", "system", "user", "user"]
    assert [tool["function"]["name"] for tool in request["tools"]] == [
        "exec_command",
        "multi_agent_v1__close_agent",
        "multi_agent_v1__resume_agent",
    ]
    assert left_out(body) == [Note("parameter", "tools[2]", before="web_search")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"max_output_tokens": 5, "temperature": 0, "top_p": 0.5}, {"max_tokens": 5, "temperature": 0, "top_p": 0.5}),
        ({"store": False, "include": ["x"], "metadata": {}, "truncation": "auto", "client_metadata": {}}, {}),
        ({"previous_response_id": None, "background": False}, {}),
        ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
        ({"parallel_tool_calls": True}, {}),
        (
            {"tools": [FUNCTION], "parallel_tool_calls": False, "tool_choice": "required"},
            {
                "tools": [{"type": "function", "function": {"name": "f"}}],
                "parallel_tool_calls": False,
                "tool_choice": "required",
            },
        ),
        ({"tools": [{"type": "web_search"}], "tool_choice": "auto", "parallel_tool_calls": True}, {}),
        ({"reasoning": {"effort": "high", "summary": "auto"}}, {"reasoning_effort": "high"}),
        ({"reasoning": {"effort": "none"}}, {"reasoning_effort": "none", "thinking": {"type": "disabled"}}),
        ({"reasoning": {"summary": "auto"}}, {}),
        ({"reasoning": None}, {}),
        ({"text": {"format": {"type": "text"}, "verbosity": "low"}}, {}),
        ({"text": {"verbosity": "low"}}, {}),
        ({"text": {"format": {"type": "json_object"}}}, {"response_format": {"type": "json_object"}}),
        (
            {
                "text": {
                    "format": {"type": "json_schema", "name": "n", "schema": {}, "strict": True, "description": None}
                }
            },
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}, "strict": True}}},
        ),
    ],
)
def test_parameters(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert fields(**given) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("previous_response_id", "resp_1"), ("conversation", "conv_1"), ("prompt", {"id": "p"}), ("background", True)],
)
def test_fields_that_need_stored_answers_are_rejected(name: str, value: Any) -> None:
    with pytest.raises(BadRequest, match="stored here") as caught:
        chat_request({"input": "hi", name: value})
    assert (caught.value.path, caught.value.code, caught.value.status) == (name, "unsupported_parameter", 400)


@pytest.mark.parametrize("asked", [{"include": ["message.output_text.logprobs"]}, {"top_logprobs": 3}])
def test_log_probabilities_are_left_out_with_a_note(asked: dict[str, Any]) -> None:
    assert left_out({"input": "hi", **asked}) == [Note("parameter", "top_logprobs", before="logprobs")]
    assert left_out({"input": "hi", "include": ["reasoning.encrypted_content"], "top_logprobs": 0}) == []
