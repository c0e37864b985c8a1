from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import SimAnswer, choice_count, for_choice, next_answer


def tool(name: str, key: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [tool("add", "a"), tool("sub", "b")]
USER = {"role": "user", "content": "go"}


def answered(answer: SimAnswer) -> list[dict[str, Any]]:
    calls = [
        {"id": f"id{c.number}", "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in answer.calls
    ]
    results = [
        {"role": "tool", "tool_call_id": f"id{c.number}", "content": [{"type": "text", "text": f"r{c.number}"}]}
        for c in answer.calls
    ]
    return [{"role": "assistant", "content": answer.text, "tool_calls": calls}, *reversed(results)]


def test_one_call_then_two_then_a_text_that_names_them_all() -> None:
    messages: list[dict[str, Any]] = [USER]
    first = next_answer({"messages": messages, "tools": TOOLS}, Behaviour())
    assert [(c.name, c.arguments, c.number) for c in first.calls] == [("add", '{"a":"a 0"}', 0)]
    messages += answered(first)
    second = next_answer({"messages": messages, "tools": TOOLS}, Behaviour())
    assert [(c.name, c.number, c.position) for c in second.calls] == [("sub", 1, 0), ("add", 2, 1)]
    messages += answered(second)
    last = next_answer({"messages": messages, "tools": TOOLS}, Behaviour())
    assert last.calls == ()
    assert last.text == ('Done, 3 results: add({"a":"a 0"}) -> r0; sub({"b":"b 1"}) -> r1; add({"a":"a 2"}) -> r2')
    messages += [{"role": "assistant", "content": last.text}, USER]
    again = next_answer({"messages": messages, "tools": TOOLS}, Behaviour())
    assert [c.number for c in again.calls] == [3]


def test_a_result_with_an_unknown_id_is_not_paired() -> None:
    first = next_answer({"messages": [USER], "tools": TOOLS}, Behaviour())
    assistant, result = answered(first)
    final = next_answer({"messages": [USER, assistant, result | {"tool_call_id": "x"}]}, Behaviour())
    assert final.text == 'Done, 1 result: add({"a":"a 0"}) -> (no result)'


def test_long_gives_five_answers() -> None:
    messages: list[dict[str, Any]] = [USER]
    for _ in range(4):
        answer = next_answer({"messages": messages, "tools": TOOLS}, Behaviour(answers=5))
        assert answer.calls
        messages += answered(answer)
    assert not next_answer({"messages": messages, "tools": TOOLS}, Behaviour(answers=5)).calls


def test_tool_choice_is_obeyed() -> None:
    request: dict[str, Any] = {"messages": [USER], "tools": TOOLS}
    assert not next_answer(request | {"tool_choice": "none"}, Behaviour()).calls
    named = {"type": "function", "function": {"name": "sub"}}
    assert [c.name for c in next_answer(request | {"tool_choice": named}, Behaviour()).calls] == ["sub"]
    assert next_answer(request | {"tool_choice": "required"}, Behaviour(answers=1)).calls


def test_without_tools_it_answers_with_text() -> None:
    assert next_answer({"messages": [USER]}, Behaviour()).text == "The Kimi simulator heard: go"
    nothing = next_answer({"messages": []}, Behaviour())
    assert for_choice(nothing, 2).text.endswith("heard: nothing (choice 2)")
    assert for_choice(nothing, 0) == nothing


def test_thinking_generations_reason_unless_thinking_is_disabled() -> None:
    request: dict[str, Any] = {"messages": [USER]}
    off = {"thinking": {"type": "disabled"}}
    assert not next_answer(request, Behaviour(generation="k2")).reasoning
    assert next_answer(request, Behaviour(generation="k2.5")).reasoning
    assert not next_answer(request | off, Behaviour(generation="k2.5")).reasoning
    assert next_answer(request | off, Behaviour(generation="k2.7")).reasoning


def test_awkward_arguments_hold_a_marker_only_for_k2() -> None:
    request: dict[str, Any] = {"messages": [USER], "tools": TOOLS}
    k2 = next_answer(request, Behaviour(awkward=True)).calls[0].arguments
    k3 = next_answer(request, Behaviour(awkward=True, generation="k3")).calls[0].arguments
    assert "<|tool_call_end|>" in k2
    assert "<|" not in k3
    assert "\\n" in k3


def test_choices_are_bounded() -> None:
    assert [choice_count({"n": n}) for n in (None, 1, 3, 99, "4")] == [1, 1, 3, 8, 1]


def test_a_named_choice_is_passed_over_on_k3_of_moonshot() -> None:
    named = {"type": "function", "function": {"name": "sub"}}
    request: dict[str, Any] = {"messages": [USER], "tools": TOOLS, "tool_choice": named}
    assert next_answer(request, Behaviour(generation="k3")).calls[0].name == "sub"
    assert next_answer(request, Behaviour(generation="k3", host="moonshot")).calls[0].name == "add"


@pytest.mark.parametrize(
    "plea",
    [
        "请介绍一下你自己。这次不要用任何工具。",
        "说说你是谁。你不应调用任何工具。",
        "打个招呼，请勿使用工具。",
        "Say hello, and do not use any tools.",
        "Say hello. You should not call tools.",
        "Say hello without using tools.",
    ],
)
def test_a_user_can_ask_for_no_tools(plea: str) -> None:
    request: dict[str, Any] = {"messages": [{"role": "user", "content": plea}], "tools": TOOLS}
    assert not next_answer(request, Behaviour()).calls
    assert next_answer(request | {"tool_choice": "required"}, Behaviour()).calls
    assert next_answer({**request, "messages": [{"role": "user", "content": plea + "x" * 500}]}, Behaviour()).calls


def test_answers_in_the_format_that_is_asked_for() -> None:
    prompt = {"role": "user", "content": "JSON with a key named 'port', please."}
    answer = next_answer({"messages": [prompt], "response_format": {"type": "json_object"}}, Behaviour())
    assert answer.text == '{"port":"port 0"}'


def test_the_effort_can_be_asked_for() -> None:
    asked = {"role": "user", "content": "What is your thinking_effort?"}
    request: dict[str, Any] = {"messages": [asked], "reasoning_effort": "high"}
    assert next_answer(request, Behaviour(generation="k3")).text == "high"
    assert next_answer({"messages": [asked]}, Behaviour(generation="k3")).text == "max"


def test_custom_tools_are_called_with_a_text() -> None:
    custom = {"type": "custom", "custom": {"name": "patch"}}
    call = next_answer({"messages": [USER], "tools": [custom]}, Behaviour()).calls[0]
    assert (call.name, call.arguments, call.custom) == ("patch", "input 0", True)
    assert next_answer({"messages": [USER], "tools": TOOLS}, Behaviour(custom=True)).calls[0].custom


def test_final_texts_can_show_tags_in_code() -> None:
    text = next_answer({"messages": [USER]}, Behaviour(code_tags=True)).text
    assert text.startswith("The tags are `<think>`")
    assert text.endswith("heard: go")


def test_the_numbers_of_calls_can_go_on_from_elsewhere() -> None:
    call = next_answer({"messages": [USER], "tools": TOOLS}, Behaviour(), ids_from=4).calls[0]
    assert (call.number, call.arguments) == (4, '{"a":"a 0"}')


def test_results_of_custom_calls_are_named_too() -> None:
    call = {"id": "x", "type": "custom", "custom": {"name": "patch", "input": "in"}}
    messages = [
        USER,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "r"},
    ]
    assert next_answer({"messages": messages}, Behaviour()).text == "Done, 1 result: patch(in) -> r"
