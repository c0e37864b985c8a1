from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import Behaviour
from moongate.sim.walls import wall

USER = {"role": "user", "content": "x"}
OBJECT = {"type": "object", "properties": {}}
CALL = {"id": "a:0", "type": "function", "function": {"name": "add", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a:0", "content": "1"}
NAMED = {"type": "function", "function": {"name": "add"}}


def tool(name: str = "add", parameters: Any = OBJECT) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def refusal(generation: str, *messages: dict[str, Any], host: str = "moonshot", **fields: Any) -> str | None:
    return wall({"messages": list(messages) or [USER], **fields}, Behaviour(generation=generation, host=host))


@pytest.mark.parametrize("generation", ["k2", "k2-thinking", "k2.5", "k2.6", "k2.7", "k3", "moonshot-v1"])
def test_a_decent_request_passes(generation: str) -> None:
    assert refusal(generation, USER, CALLED, RESULT, tools=[tool()], tool_choice="auto") is None


@pytest.mark.parametrize(
    ("generation", "fields", "text"),
    [
        ("k2.5", {"temperature": 0.7}, "invalid temperature: only 1 is allowed for this model"),
        ("k2.6", {"thinking": {"type": "disabled"}, "temperature": 1}, "invalid temperature: only 0.6 is allowed"),
        ("k3", {"top_p": 1}, "invalid top_p: only 0.95 is allowed for this model"),
        ("k2.7", {"n": 2}, "invalid n: only 1 is allowed for this model"),
        ("k2.7", {"thinking": {"type": "disabled"}}, "only type=enabled is allowed for this model"),
        ("k2-thinking", {"thinking": {"type": "disabled"}}, "only type=enabled is allowed for this model"),
        ("k3", {"thinking": {"type": "enabled"}}, "invalid thinking"),
        ("k2", {"thinking": {"type": "enabled"}}, "invalid thinking"),
        ("k3", {"reasoning_effort": "medium"}, "invalid reasoning_effort"),
        ("k2.5", {"tool_choice": "required"}, "tool_choice 'required' is incompatible with thinking enabled"),
        ("k2.7", {"tool_choice": NAMED}, "tool_choice 'specified' is incompatible with thinking enabled"),
        ("k3", {"tool_choice": "required"}, "needs tools"),
        ("k3", {"tool_choice": "any"}, "invalid tool_choice"),
        ("k2", {"tools": [tool()] * 129}, "at most 128"),
        ("k2", {"tools": [tool("1st")]}, "function name is invalid"),
        ("k2", {"tools": [tool(), tool()]}, "is duplicated"),
        ("k2", {"tools": [tool(parameters=None)]}, 'parameters.type is required and must be "object"'),
        ("k2", {"tools": [tool(parameters={"anyOf": []})]}, 'parameters.type is required and must be "object"'),
        (
            "k2",
            {"tools": [tool(parameters={**OBJECT, "properties": {"x": {"type": "string", "anyOf": [{}]}}})]},
            "is not a valid moonshot flavored json schema, details: <",
        ),
    ],
)
def test_fields_that_are_refused(generation: str, fields: dict[str, Any], text: str) -> None:
    assert text in str(refusal(generation, **fields))
    assert refusal(generation, host="generic", **fields) is None


@pytest.mark.parametrize(
    ("generation", "fields"),
    [
        ("k2", {"temperature": 0.1}),
        ("k2.5", {"temperature": 1, "top_p": 0.95, "n": 1, "presence_penalty": 0}),
        ("k2.5", {"thinking": {"type": "disabled"}, "tool_choice": "required"}),
        ("k2", {"tool_choice": NAMED}),
        ("k3", {"tool_choice": NAMED}),
        ("k3", {"tool_choice": "required", "tools": [tool()], "reasoning_effort": "max"}),
        ("k2", {"tools": [{"type": "builtin_function", "function": {"name": "$web_search"}}]}),
    ],
)
def test_fields_that_pass(generation: str, fields: dict[str, Any]) -> None:
    assert refusal(generation, **fields) is None


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([{"role": "developer", "content": "x"}], "invalid role 'developer'"),
        ([{"role": "user", "content": "x", "tools": [tool()]}], "only allowed on system messages"),
        ([{"role": "system", "content": "x", "tools": [tool()]}], "must have empty content"),
        ([{"role": "assistant", "content": ""}], "position 0 with role 'assistant' must not be empty"),
        ([{"role": "assistant", "content": [{"type": "text", "text": ""}], "tool_calls": [CALL]}], "content is empty"),
        ([CALLED], "must be followed by tool messages"),
        ([CALLED, USER, RESULT], "must be followed by tool messages"),
        ([RESULT], "tool_call_id a:0 is not found"),
        ([CALLED, RESULT | {"tool_call_id": ""}], "tool_call_id  is not found"),
        ([CALLED, RESULT, CALLED, RESULT], "tool call id a:0 is duplicated"),
    ],
)
def test_histories_that_are_refused(messages: list[dict[str, Any]], text: str) -> None:
    assert text in str(refusal("k2.5", *messages))


def test_reasoning_must_come_back_with_calls() -> None:
    bare = {k: v for k, v in CALLED.items() if k != "reasoning_content"}
    empty, blank = CALLED | {"reasoning_content": ""}, CALLED | {"reasoning_content": " "}
    missing = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"
    for generation in ("k2.5", "k2.6", "k2.7", "k3"):
        assert refusal(generation, USER, bare, RESULT) == missing
        assert refusal(generation, USER, empty, RESULT) == missing
        assert refusal(generation, USER, blank, RESULT) is None
    assert refusal("k2-thinking", USER, bare, RESULT) == missing
    assert refusal("k2-thinking", USER, empty, RESULT) is None
    assert refusal("k2", USER, bare, RESULT) is None
    assert refusal("k2.5", USER, bare, RESULT, thinking={"type": "disabled"}) is None
