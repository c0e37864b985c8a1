from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.family import facts_of
from moongate.kimi.hosts import host_of
from moongate.kimi.notes import Notes
from moongate.kimi.options import KimiOptions
from moongate.kimi.parameters import is_named, is_thinking, mend_parameters, with_default_choice
from moongate.payload import JsonObject

MOONSHOT = "https://api.moonshot.ai/v1"
NAMED = {"type": "function", "function": {"name": "bash"}}
OFF = {"thinking": {"type": "disabled"}}
ON = {"thinking": {"type": "enabled", "keep": "all"}}
SAMPLING = {"temperature": 0.3, "top_p": 1, "n": 1, "presence_penalty": 0, "frequency_penalty": None}


def mended(model: str, request: JsonObject, base_url: str = MOONSHOT) -> JsonObject:
    notes = Notes()
    before = dict(request)
    options = KimiOptions()
    result = mend_parameters(request, facts_of(model, options), host_of(base_url, options), notes)
    assert request == before
    assert (result is request) is (not notes)
    assert {note.kind for note in notes} <= {"parameter"}
    return result


@pytest.mark.parametrize(
    ("model", "request_", "expected"),
    [
        ("kimi-k2-0905", ON, {}),
        ("kimi-k2-0905", OFF, {}),
        ("moonshot-v1-8k", ON, {}),
        ("kimi-k2-0905", SAMPLING, SAMPLING),
        ("kimi-k2-0905", {"tool_choice": "required"}, {"tool_choice": "required"}),
        ("kimi-k2-0905", {"tool_choice": NAMED}, {"tool_choice": NAMED}),
        ("kimi-k2-0905", {"max_tokens": 5}, {"max_tokens": 5}),
        ("kimi-k2-thinking", ON, ON),
        ("kimi-k2-thinking", OFF, {}),
        ("kimi-k2-thinking", SAMPLING, SAMPLING),
        ("kimi-k2-thinking", {"tool_choice": "required"}, {"tool_choice": "auto"}),
        ("kimi-k2-thinking", {**OFF, "tool_choice": NAMED}, {"tool_choice": "auto"}),
        ("kimi-k2-thinking", {"max_tokens": 5}, {"max_tokens": 5}),
        ("kimi-k2.5", {**ON, **SAMPLING}, ON),
        ("kimi-k2.5", {**OFF, **SAMPLING}, OFF),
        ("kimi-k2.6", {"tool_choice": "required"}, {"tool_choice": "auto"}),
        ("kimi-k2.6", {**ON, "tool_choice": NAMED}, {**ON, "tool_choice": "auto"}),
        ("kimi-k2.6", {**OFF, "tool_choice": NAMED}, {**OFF, "tool_choice": NAMED}),
        ("kimi-k2.6", {"tool_choice": "none"}, {"tool_choice": "none"}),
        ("kimi-k2.6", {"reasoning_effort": "medium"}, {"reasoning_effort": "medium"}),
        ("kimi-k2.6", {"max_tokens": 5}, {"max_completion_tokens": 5}),
        ("kimi-k2.6", {"max_tokens": 5, "max_completion_tokens": 9}, {"max_completion_tokens": 9}),
        ("kimi-k2.6", {"max_tokens": 5, "max_completion_tokens": None}, {"max_completion_tokens": 5}),
        ("kimi-k2.6", {"max_tokens": None}, {}),
        ("kimi-k2.7-code", {**OFF, **SAMPLING, "tool_choice": "required"}, {"tool_choice": "auto"}),
        ("kimi-k2.7-code", ON, ON),
        ("kimi-k3", {**ON, **SAMPLING, "tool_choice": NAMED}, {"tool_choice": "required"}),
        ("kimi-k3", {"tool_choice": "required"}, {"tool_choice": "required"}),
        ("kimi-k3", {"max_tokens": 5}, {"max_completion_tokens": 5}),
        ("kimi-k3", {"reasoning_effort": ["low"]}, {"reasoning_effort": ["low"]}),
        ("kimi-latest", {**ON, **SAMPLING, "max_tokens": 5, "tool_choice": NAMED}, None),
    ],
)
def test_moonshot_takes(model: str, request_: JsonObject, expected: JsonObject | None) -> None:
    assert mended(model, request_) == (request_ if expected is None else expected)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [("none", "low"), ("minimal", "low"), ("low", "low"), ("medium", "high"), ("high", "high"), ("xhigh", "max")],
)
def test_k3_has_efforts_of_its_own(asked: str, sent: str) -> None:
    assert mended("kimi-k3", {"reasoning_effort": asked}) == {"reasoning_effort": sent}


@pytest.mark.parametrize("model", ["kimi-k2.6", "kimi-k2.7-code", "kimi-k3"])
def test_other_hosts_take_all(model: str) -> None:
    request: JsonObject = {**SAMPLING, **OFF, "tool_choice": NAMED, "max_tokens": 5, "tools": [{}] * 200}
    assert mended(model, request, "https://openrouter.ai/api") is request


def test_at_most_128_tools() -> None:
    assert mended("kimi-latest", {"tools": [{}] * 128})
    with pytest.raises(BadRequest, match="128") as refusal:
        mended("kimi-latest", {"tools": [{}] * 129})
    assert (refusal.value.status, refusal.value.path) == (400, "tools")
    assert mended("kimi-latest", {"tools": "x" * 129})


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        (NAMED, True),
        ({"type": "function", "name": "bash"}, True),
        ({"function": {}}, True),
        ({"type": "allowed_tools"}, False),
        ("required", False),
        (None, False),
    ],
)
def test_a_choice_that_names_a_function(choice: Any, named: bool) -> None:
    assert is_named(choice) is named


def test_disabled_where_thinking_is_always_on_counts_as_on() -> None:
    def thinking(model: str, request: JsonObject) -> bool:
        return is_thinking(request, facts_of(model, KimiOptions()))

    assert thinking("kimi-k2.7-code", OFF)
    assert thinking("kimi-k2.6", ON)
    assert thinking("kimi-k2.6", {"thinking": False})
    assert not thinking("kimi-k2.6", OFF)
    assert not thinking("kimi-k2", ON)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"tools": [{}]}, "required"),
        ({"tools": [{}], "tool_choice": None}, "required"),
        ({"tools": [{}], "tool_choice": "none"}, None),
        ({"tools": []}, None),
        ({"tools": {"a": 1}}, None),
        ({}, None),
    ],
)
def test_tools_without_a_choice_get_the_default(request_: JsonObject, expected: str | None) -> None:
    notes = Notes()
    result = with_default_choice(request_, KimiOptions(tool_choice_default="required"), notes)
    if expected is None:
        assert result is request_
        assert not notes
    else:
        assert result == {**request_, "tool_choice": expected}
        assert [note.kind for note in notes] == ["parameter"]
