from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.generations import recognise_model
from moongate.kimi.hosts import recognise_host
from moongate.kimi.notes import Notes
from moongate.kimi.options import KimiOptions
from moongate.kimi.request.parameters import (
    adapt_parameters,
    check_tool_count,
    is_thinking,
    names_tool,
    with_default_tool_choice,
)
from moongate.payload import JsonObject

MOONSHOT = "https://api.moonshot.ai/v1"
NAMED = {"type": "function", "function": {"name": "bash"}}
OFF = {"thinking": {"type": "disabled"}}
ON = {"thinking": {"type": "enabled", "keep": "all"}}
SAMPLING = {"temperature": 0.3, "top_p": 1, "n": 1, "presence_penalty": 0, "frequency_penalty": None}


def adapted(model: str, request: JsonObject, base_url: str = MOONSHOT, **options_: Any) -> JsonObject:
    notes = Notes()
    before = dict(request)
    options = KimiOptions(**options_)
    result = adapt_parameters(
        request, recognise_model(model, options.family), recognise_host(base_url, options.host), notes
    )
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
        ("kimi-k3", OFF, OFF),
        ("kimi-k3", {**OFF, "tool_choice": NAMED}, {**OFF, "tool_choice": "required"}),
        (
            "kimi-k3",
            {"thinking": {"type": "disabled", "effort": "max"}},
            {"thinking": {"type": "disabled", "effort": "max"}, "reasoning_effort": "max"},
        ),
        ("kimi-k3.1-pro", {**OFF, **SAMPLING, "max_tokens": 5}, {"max_completion_tokens": 5}),
        ("kimi-k3.1-pro", {"tool_choice": "required"}, {"tool_choice": "required"}),
        ("kimi-for-coding", {**OFF, **SAMPLING, "tool_choice": NAMED}, {"tool_choice": "auto"}),
        ("kimi-for-coding", {"tool_choice": "required"}, {"tool_choice": "auto"}),
        ("kimi-for-coding", {"max_tokens": 5}, {"max_completion_tokens": 5}),
        ("kimi-k3", {"tool_choice": "required"}, {"tool_choice": "required"}),
        ("kimi-k3", {"max_tokens": 5}, {"max_completion_tokens": 5}),
        ("kimi-k3", {"reasoning_effort": ["low"]}, {"reasoning_effort": ["low"]}),
        ("kimi-latest", {**ON, **SAMPLING, "max_tokens": 5, "tool_choice": NAMED}, None),
    ],
)
def test_parameters_at_moonshot(model: str, request_: JsonObject, expected: JsonObject | None) -> None:
    assert adapted(model, request_) == (request_ if expected is None else expected)


EFFORTS = [
    *(("minimal", "low"), ("low", "low"), ("medium", "high"), ("high", "high"), ("xhigh", "max"), ("max", "max")),
    *((word, "low") for word in ("none", "off", "disabled", "ultra", "")),
    ("HIGH", "high"),
]


@pytest.mark.parametrize("model", ["kimi-k3", "kimi-k3.1-pro", "kimi-for-coding"])
@pytest.mark.parametrize(("asked", "sent"), EFFORTS)
def test_efforts(model: str, asked: str, sent: str) -> None:
    assert adapted(model, {"reasoning_effort": asked}) == {"reasoning_effort": sent}
    assert adapted(model, {"thinking": {"effort": asked}}) == {"reasoning_effort": sent}
    both = {"thinking": {"type": "enabled", "effort": asked}, "reasoning_effort": "max" if sent == "low" else "low"}
    assert adapted(model, both) == {"reasoning_effort": sent}


@pytest.mark.parametrize("odd", [None, 3, ["low"]])
def test_an_effort_that_is_no_text_is_not_taken(odd: Any) -> None:
    assert adapted("kimi-k3", {"thinking": {"effort": odd}, "reasoning_effort": "medium"}) == {
        "reasoning_effort": "high"
    }
    assert adapted("kimi-k3", {"reasoning_effort": odd}) == {"reasoning_effort": odd}


@pytest.mark.parametrize("host", ["vllm", "sglang"])
@pytest.mark.parametrize("model", ["kimi-k3", "kimi-k3.1-pro"])
@pytest.mark.parametrize(("asked", "sent"), EFFORTS)
def test_engines_get_the_effort_of_k3_in_the_chat_template(host: str, model: str, asked: str, sent: str) -> None:
    for request in ({"reasoning_effort": asked}, {"thinking": {"effort": asked}, "reasoning_effort": "high"}):
        expected = {**request, "chat_template_kwargs": {"thinking_effort": sent}}
        assert adapted(model, request, base_url="", host=host) == expected


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"chat_template_kwargs": {"thinking_effort": "max"}, "reasoning_effort": "low"},
        {"chat_template_kwargs": "odd", "reasoning_effort": "low"},
    ],
)
def test_a_chat_template_argument_of_the_client_is_kept(request_: JsonObject) -> None:
    assert adapted("kimi-k3", request_, base_url="", host="vllm") is request_


@pytest.mark.parametrize("host", ["generic", "openrouter", "moonshot"])
def test_other_hosts_get_no_chat_template_arguments(host: str) -> None:
    assert adapted("kimi-k3", {"reasoning_effort": "low"}, base_url="", host=host) == {"reasoning_effort": "low"}


def test_engines_get_no_effort_for_k2() -> None:
    assert adapted("kimi-k2.6", {"reasoning_effort": "low"}, base_url="", host="vllm") == {"reasoning_effort": "low"}


def test_other_arguments_of_the_chat_template_are_kept() -> None:
    request = {"reasoning_effort": "medium", "chat_template_kwargs": {"x": 1}}
    expected = {**request, "chat_template_kwargs": {"x": 1, "thinking_effort": "high"}}
    assert adapted("kimi-k3", request, base_url="", host="sglang") == expected


@pytest.mark.parametrize("model", ["kimi-k2.6", "kimi-k2.7-code", "kimi-k3"])
def test_other_hosts_accept_all_parameters(model: str) -> None:
    request: JsonObject = {**SAMPLING, **OFF, "tool_choice": NAMED, "max_tokens": 5, "tools": [{}] * 200}
    assert adapted(model, request, "https://openrouter.ai/api") is request


def test_at_most_128_tools() -> None:
    check_tool_count(128, recognise_host(MOONSHOT))
    check_tool_count(129, recognise_host(""))
    with pytest.raises(BadRequest, match="128") as refusal:
        check_tool_count(129, recognise_host(MOONSHOT))
    assert (refusal.value.status, refusal.value.path) == (400, "tools")


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        (NAMED, True),
        ({"type": "function", "name": "bash"}, True),
        ({"function": {}}, True),
        ({"type": "custom", "custom": {"name": "patch"}}, True),
        ({"type": "allowed_tools"}, False),
        ("required", False),
        (None, False),
    ],
)
def test_a_tool_choice_that_names_a_tool(choice: Any, named: bool) -> None:
    assert names_tool(choice) is named


def test_disabled_where_thinking_is_always_on_counts_as_on() -> None:
    def thinking(model: str, request: JsonObject) -> bool:
        return is_thinking(request, recognise_model(model))

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
def test_tools_without_a_tool_choice_get_the_default(request_: JsonObject, expected: str | None) -> None:
    result = with_default_tool_choice(request_, KimiOptions(tool_choice_default="required"))
    if expected is None:
        assert result is request_
    else:
        assert result == {**request_, "tool_choice": expected}
