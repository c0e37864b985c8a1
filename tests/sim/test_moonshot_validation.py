from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import GENERATIONS, Behaviour, behaviour_of
from moongate.sim.moonshot_validation import validation_error

USER = {"role": "user", "content": "x"}
OBJECT = {"type": "object", "properties": {}}
CALL = {"id": "a:0", "type": "function", "function": {"name": "add", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a:0", "content": "1"}
NAMED = {"type": "function", "function": {"name": "add"}}


def tool(name: str = "add", parameters: Any = OBJECT) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def error_of(generation: str, *messages: dict[str, Any], host: str = "moonshot", **fields: Any) -> str | None:
    behaviour = Behaviour(generation=generation, host=host, moonshot_validation=True)
    return validation_error({"messages": list(messages) or [USER], **fields}, behaviour)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_valid_request_passes(generation: str) -> None:
    assert error_of(generation, USER, CALLED, RESULT, tools=[tool()], tool_choice="auto") is None


@pytest.mark.parametrize(
    ("generation", "fields", "text"),
    [
        ("k2.5", {"temperature": 0.7}, "invalid temperature: only 1 is allowed for this model"),
        ("k2.6", {"thinking": {"type": "disabled"}, "temperature": 1}, "invalid temperature: only 0.6 is allowed"),
        ("k3", {"top_p": 1}, "invalid top_p: only 0.95 is allowed for this model"),
        ("k2.7", {"n": 2}, "invalid n: only 1 is allowed for this model"),
        ("k2.7", {"thinking": {"type": "disabled"}}, "only type=enabled is allowed for this model"),
        ("k2-thinking", {"thinking": {"type": "disabled"}}, "only type=enabled is allowed for this model"),
        ("k2.8", {"thinking": {"type": "disabled"}}, "only type=enabled is allowed for this model"),
        ("k3.1", {"thinking": {"type": "disabled"}}, "only type=enabled is allowed for this model"),
        ("k3", {"thinking": {"type": "often"}}, "only type=enabled and type=disabled"),
        ("k3", {"thinking": "yes"}, "only type=enabled and type=disabled"),
        ("k3", {"thinking": {"keep": "none"}}, "only keep=all is allowed"),
        ("k2", {"thinking": {"type": "enabled"}}, "invalid thinking"),
        ("k3", {"reasoning_effort": "medium"}, "invalid reasoning_effort: only low, high, max are allowed"),
        ("k2.8", {"thinking": {"effort": "xhigh"}}, "invalid thinking.effort: only low, high, max are allowed"),
        ("k3", {"temperature": 1.1}, "invalid temperature: only 0 to 1 is allowed for this model"),
        ("k3.1", {"temperature": -0.1}, "invalid temperature: only 0 to 1 is allowed for this model"),
        ("k2.5", {"tool_choice": "required"}, "tool_choice 'required' is incompatible with thinking enabled"),
        ("k2.7", {"tool_choice": NAMED}, "tool_choice 'specified' is incompatible with thinking enabled"),
        ("k3", {"tool_choice": "required"}, "needs tools"),
        ("k3", {"tool_choice": "required", "tools": []}, "needs tools"),
        ("k3", {"tool_choice": "any"}, "invalid tool_choice: any"),
        ("k3", {"tool_choice": {"type": "any"}}, "invalid tool_choice: unknown form"),
        ("k2", {"tools": [tool()] * 129}, "at most 128"),
        ("k2", {"tools": [tool("1st")]}, "function name is invalid"),
        ("k2", {"tools": [tool(), tool()]}, "is duplicated"),
        ("k2", {"tools": [tool(parameters=None)]}, 'parameters.type is required and must be "object"'),
        ("k2", {"tools": [tool(parameters={"anyOf": []})]}, "details: <At path 'anyOf': anyOf must have 1-500 items>"),
        (
            "k2",
            {"tools": [tool(parameters={**OBJECT, "properties": {"x": {"type": "string", "anyOf": [{}]}}})]},
            "is not a valid moonshot flavored json schema, details: <",
        ),
    ],
)
def test_invalid_fields_are_rejected(generation: str, fields: dict[str, Any], text: str) -> None:
    assert text in str(error_of(generation, **fields))
    assert error_of(generation, host="generic", **fields) is None


@pytest.mark.parametrize(
    ("generation", "fields"),
    [
        ("k2", {"temperature": 0.1}),
        ("k2.5", {"temperature": 1, "top_p": 0.95, "n": 1, "presence_penalty": 0}),
        ("k2.5", {"thinking": {"type": "disabled"}, "tool_choice": "required"}),
        ("k2", {"tool_choice": NAMED}),
        ("k3", {"temperature": 0, "thinking": {"type": "enabled", "keep": "all", "effort": "low"}}),
        ("k3", {"thinking": {"type": "disabled", "keep": "none", "effort": "odd"}}),
        ("k2.8", {"thinking": {"effort": "max"}, "reasoning_effort": "low"}),
        ("k3", {"tool_choice": NAMED}),
        ("k3", {"tool_choice": "required", "tools": [tool()], "reasoning_effort": "max"}),
        ("k2", {"tools": [{"type": "builtin_function", "function": {"name": "$web_search"}}]}),
    ],
)
def test_fields_that_pass(generation: str, fields: dict[str, Any]) -> None:
    assert error_of(generation, **fields) is None


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([{"role": "developer", "content": "x"}], "invalid role 'developer'"),
        ([{"role": "user", "content": "x", "tools": [tool()]}], "only allowed on system messages"),
        ([{"role": "system", "content": "", "tools": [tool()]}], "tokenization failed"),
        ([{"role": "assistant", "content": ""}], "position 0 with role 'assistant' must not be empty"),
        ([{"role": "assistant", "content": [{"type": "text", "text": ""}], "tool_calls": [CALL]}], "content is empty"),
        ([CALLED], "must be followed by tool messages"),
        ([CALLED, USER, RESULT], "must be followed by tool messages"),
        ([RESULT], "tool_call_id a:0 is not found"),
        ([CALLED, RESULT | {"tool_call_id": ""}], "tool_call_id  is not found"),
        ([CALLED, RESULT, CALLED, RESULT], "tool call id a:0 is duplicated"),
    ],
)
def test_invalid_histories_are_rejected(messages: list[dict[str, Any]], text: str) -> None:
    assert text in str(error_of("k2.5", *messages))


def test_reasoning_must_come_back_with_calls() -> None:
    bare = {k: v for k, v in CALLED.items() if k != "reasoning_content"}
    empty, blank = CALLED | {"reasoning_content": ""}, CALLED | {"reasoning_content": " "}
    missing = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"
    for generation in ("k2.5", "k2.6", "k2.7", "k2.8"):
        assert error_of(generation, USER, bare, RESULT) == missing
        assert error_of(generation, USER, empty, RESULT) == missing
        assert error_of(generation, USER, blank, RESULT) is None
    assert error_of("k2-thinking", USER, bare, RESULT) == missing
    assert error_of("k2-thinking", USER, empty, RESULT) is None
    assert error_of("k2", USER, bare, RESULT) is None
    assert error_of("k2.5", USER, bare, RESULT, thinking={"type": "disabled"}) is None
    assert error_of("k3", USER, bare, RESULT) is None
    k3 = behaviour_of("kimi-k3-sim-moonshot-walls-needs-reasoning")
    assert validation_error({"messages": [USER, bare, RESULT]}, k3) == missing


def test_both_temperature_rules_can_be_played() -> None:
    fixed = behaviour_of("kimi-k3-sim-moonshot-walls-fixed-temperature")
    ranged = behaviour_of("kimi-k2.5-sim-moonshot-walls-temperature-range")
    request = {"messages": [USER], "temperature": 0.5}
    assert validation_error(request, fixed) == "invalid temperature: only 1 is allowed for this model"
    assert validation_error(request, ranged) is None
    assert validation_error(request | {"temperature": 2}, ranged) is not None


def test_a_named_choice_is_passed_over_or_refused_on_k3() -> None:
    request = {"messages": [USER], "tools": [tool()], "tool_choice": NAMED}
    assert validation_error(request, behaviour_of("kimi-k3-sim-moonshot-walls")) is None
    refused = validation_error(request, behaviour_of("kimi-k3-sim-moonshot-walls-named-refused"))
    assert refused == "invalid tool_choice: only auto, none and required are allowed for this model"


BARE_CALL = [USER, {"role": "assistant", "tool_calls": [CALL]}, RESULT]


@pytest.mark.parametrize(
    ("row", "fields", "text"),
    [
        ("relay", {"temperature": 0.3}, "invalid temperature: only 1 is allowed"),
        ("needs-reasoning", {"messages": BARE_CALL}, "reasoning_content is missing"),
        ("fixed-sampling", {"top_p": 0.5}, "invalid top_p: only 0.95 is allowed"),
        ("no-forced-choice", {"tool_choice": "required"}, "tool_choice 'required' is incompatible with thinking"),
        ("no-thinking-field", {"thinking": {"type": "disabled"}}, "invalid thinking"),
        ("three-efforts", {"reasoning_effort": "xhigh"}, "invalid reasoning_effort"),
        ("schema-wall", {"tools": [tool(parameters={"type": "text"})]}, "invalid type"),
        ("name-wall", {"tools": [tool("2.get")]}, "function name is invalid"),
        ("no-max-tokens", {"max_tokens": 5}, "'max_tokens' is not supported"),
        ("no-max-completion-tokens", {"max_completion_tokens": 5}, "'max_completion_tokens' is not supported"),
        ("no-dynamic-tools", {"messages": [{"role": "system", "tools": [tool()]}]}, "tokenization failed"),
    ],
)
def test_single_refusals_under_a_foreign_host(row: str, fields: dict[str, Any], text: str) -> None:
    request = {"messages": [USER], **fields}
    assert text in str(validation_error(request, behaviour_of(f"kimi-k2.5-sim-{row}")))
    assert validation_error(request, behaviour_of("kimi-k2.5-sim")) is None
    assert validation_error({"messages": [USER]}, behaviour_of(f"kimi-k2.5-sim-{row}")) is None


def test_refusals_add_up() -> None:
    behaviour = behaviour_of("kimi-k2.5-sim-fixed-sampling-no-forced-choice")
    request = {"messages": [USER], "tool_choice": "required"}
    assert "invalid n" in str(validation_error(request | {"n": 2}, behaviour))
    assert "incompatible" in str(validation_error(request, behaviour))
