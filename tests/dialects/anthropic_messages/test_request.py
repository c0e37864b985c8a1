from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.dialects.anthropic_messages.request import chat_request, left_out
from moongate.errors import BadRequest

RECORDED = Path(__file__).parents[1] / "recordings" / "claude_code.json"
HI = {"role": "user", "content": "hi"}


def fields(**body: Any) -> dict[str, Any]:
    """The fields of the chat request other than its model and messages."""
    request = chat_request({"model": "m", "messages": [HI], **body})
    assert request.pop("model") == "m"
    assert request.pop("messages") == [HI]
    return request


def test_a_recorded_request_of_claude_code() -> None:
    body = json.loads(RECORDED.read_text(encoding="utf-8"))["body"]
    before = json.dumps(body)
    request = chat_request(body)
    assert json.dumps(body) == before
    assert sorted(request) == sorted(
        ["model", "max_tokens", "messages", "tools", "thinking", "reasoning_effort", "stream", "stream_options"]
    )
    assert [message["role"] for message in request["messages"]] == ["system", "user", "system"]
    assert request["messages"][0]["content"].startswith("You are a Claude agent")
    assert request["messages"][1]["content"].endswith("\nlist files")
    # The deferred tool says that it must never be called; nothing has loaded it.
    assert [tool["function"]["name"] for tool in request["tools"]] == ["Bash", "Read", "ToolSearch"]
    assert request["tools"][0]["function"]["parameters"] == body["tools"][0]["input_schema"]
    assert request["thinking"] == {"type": "enabled"}
    assert request["reasoning_effort"] == "high"
    assert left_out(body) == [Note("parameter", "system[0]", before="x-anthropic-billing-header")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"max_tokens": 5, "temperature": 0, "top_p": 0.5, "top_k": 3},
            {"max_tokens": 5, "temperature": 0, "top_p": 0.5, "top_k": 3},
        ),
        ({"prompt_cache_key": "k", "seed": None}, {"prompt_cache_key": "k"}),
        (
            {
                "metadata": {"user_id": "u"},
                "service_tier": "auto",
                "context_management": {},
                "betas": ["x"],
                "speed": "fast",
            },
            {},
        ),
        ({"stop_sequences": ["END"]}, {"stop": ["END"]}),
        ({"stop_sequences": []}, {}),
        ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
        ({"stream": False}, {}),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, {"thinking": {"type": "enabled"}}),
        ({"thinking": {"type": "adaptive", "display": "omitted"}}, {"thinking": {"type": "enabled"}}),
        ({"thinking": {"type": "disabled"}}, {"thinking": {"type": "disabled"}}),
        ({"output_config": {"effort": "max"}}, {"reasoning_effort": "max"}),
        ({"output_config": "high"}, {}),
        ({"output_config": {"effort": None, "format": None}}, {}),
        ({"tools": [{"type": "web_search_20250305", "name": "w"}], "tool_choice": {"type": "any"}}, {}),
        (
            {"tools": [{"name": "f"}], "tool_choice": {"type": "any"}},
            {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"},
        ),
    ],
)
def test_parameters(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert fields(**given) == expected


@pytest.mark.parametrize("where", ["output_config", "output_format"])
def test_structured_output(where: str) -> None:
    wanted = {"type": "json_schema", "schema": {"type": "object"}}
    expected = {"name": "output", "schema": {"type": "object"}, "strict": True}
    given = {"output_config": {"format": wanted}} if where == "output_config" else {"output_format": wanted}
    assert fields(**given) == {"response_format": {"type": "json_schema", "json_schema": expected}}
    assert fields(output_format={"type": "text"}) == {}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"stop_sequences": "END"}, "stop_sequences"),
        ({"stop_sequences": [1]}, "stop_sequences"),
        ({"thinking": "on"}, "thinking.type"),
        ({"thinking": {}}, "thinking.type"),
        ({"tools": 3}, "tools"),
        ({"messages": None}, "messages"),
    ],
)
def test_invalid_requests_are_rejected_with_their_path(given: dict[str, Any], path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        chat_request({"messages": [HI], **given})
    assert caught.value.path == path
    assert caught.value.status == 400


def test_mcp_servers_are_left_out_with_a_note() -> None:
    assert left_out({"messages": [HI], "system": "s", "mcp_servers": [{"url": "u"}]}) == [
        Note("parameter", "mcp_servers", before="mcp_servers")
    ]
