from __future__ import annotations

from typing import Any

from moongate.sim.behaviours import Behaviour
from moongate.sim.script import Turn, choices_asked, next_turn, offered


def tool(name: str, key: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [tool("add", "a"), tool("sub", "b")]
USER = {"role": "user", "content": "go"}


def answered(turn: Turn) -> list[dict[str, Any]]:
    calls = [
        {"id": f"id{c.number}", "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in turn.calls
    ]
    results = [
        {"role": "tool", "tool_call_id": f"id{c.number}", "content": [{"type": "text", "text": f"r{c.number}"}]}
        for c in turn.calls
    ]
    return [{"role": "assistant", "content": turn.text, "tool_calls": calls}, *reversed(results)]


def test_one_call_then_two_then_a_text_that_names_them_all() -> None:
    messages: list[dict[str, Any]] = [USER]
    first = next_turn({"messages": messages, "tools": TOOLS}, Behaviour())
    assert [(c.name, c.arguments, c.number) for c in first.calls] == [("add", '{"a":"a 0"}', 0)]
    messages += answered(first)
    second = next_turn({"messages": messages, "tools": TOOLS}, Behaviour())
    assert [(c.name, c.number, c.position) for c in second.calls] == [("sub", 1, 0), ("add", 2, 1)]
    messages += answered(second)
    last = next_turn({"messages": messages, "tools": TOOLS}, Behaviour())
    assert last.calls == ()
    assert last.text == ('Done, 3 results: add({"a":"a 0"}) -> r0; sub({"b":"b 1"}) -> r1; add({"a":"a 2"}) -> r2')
    messages += [{"role": "assistant", "content": last.text}, USER]
    again = next_turn({"messages": messages, "tools": TOOLS}, Behaviour())
    assert [c.number for c in again.calls] == [3]


def test_a_result_that_does_not_pair_is_not_seen() -> None:
    first = next_turn({"messages": [USER], "tools": TOOLS}, Behaviour())
    asked, result = answered(first)
    said = next_turn({"messages": [USER, asked, result | {"tool_call_id": "x"}]}, Behaviour())
    assert said.text == 'Done, 1 results: add({"a":"a 0"}) -> (no result)'


def test_long_plays_five_turns() -> None:
    messages: list[dict[str, Any]] = [USER]
    for _ in range(4):
        turn = next_turn({"messages": messages, "tools": TOOLS}, Behaviour(turns=5))
        assert turn.calls
        messages += answered(turn)
    assert not next_turn({"messages": messages, "tools": TOOLS}, Behaviour(turns=5)).calls


def test_tool_choice_is_obeyed() -> None:
    request: dict[str, Any] = {"messages": [USER], "tools": TOOLS}
    assert not next_turn(request | {"tool_choice": "none"}, Behaviour()).calls
    named = {"type": "function", "function": {"name": "sub"}}
    assert [c.name for c in next_turn(request | {"tool_choice": named}, Behaviour()).calls] == ["sub"]
    assert next_turn(request | {"tool_choice": "required"}, Behaviour(turns=1)).calls


def test_without_tools_it_talks() -> None:
    assert next_turn({"messages": [USER]}, Behaviour()).text == "The Kimi simulator heard: go"
    assert next_turn({"messages": []}, Behaviour(), 2).text.endswith("heard: nothing (choice 2)")


def test_thinking_generations_reason_unless_told_not_to() -> None:
    request: dict[str, Any] = {"messages": [USER]}
    off = {"thinking": {"type": "disabled"}}
    assert not next_turn(request, Behaviour(generation="k2")).reasoning
    assert next_turn(request, Behaviour(generation="k2.5")).reasoning
    assert not next_turn(request | off, Behaviour(generation="k2.5")).reasoning
    assert next_turn(request | off, Behaviour(generation="k2.7")).reasoning


def test_tools_of_system_messages_count_and_harmless_ones_are_preferred() -> None:
    request = {"messages": [{"role": "system", "tools": TOOLS}], "tools": [tool("mul", "c"), {"type": "x"}, 3]}
    assert [f["name"] for f in offered(request)] == ["mul", "add", "sub"]
    assert [f["name"] for f in offered({"tools": [*TOOLS, tool("Bash", "command")]})] == ["Bash"]


def test_awkward_arguments_hold_a_marker_only_for_k2() -> None:
    request: dict[str, Any] = {"messages": [USER], "tools": TOOLS}
    k2 = next_turn(request, Behaviour(awkward=True)).calls[0].arguments
    k3 = next_turn(request, Behaviour(awkward=True, generation="k3")).calls[0].arguments
    assert "<|tool_call_end|>" in k2
    assert "<|" not in k3
    assert "\\n" in k3


def test_choices_are_bounded() -> None:
    assert [choices_asked({"n": n}) for n in (None, 1, 3, 99, "4")] == [1, 1, 3, 8, 1]
