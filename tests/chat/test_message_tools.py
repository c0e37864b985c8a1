from __future__ import annotations

import copy
from typing import Any

import pytest

from moongate.chat.message_tools import MovedTools, move_to_top, tools_of, with_tools_at_top
from moongate.payload import JsonObject

USER: JsonObject = {"role": "user", "content": "go"}
EMPTY = {"type": "object", "properties": {}}


def tool(name: str, parameters: JsonObject = EMPTY) -> JsonObject:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def system(*tools: Any, **more: Any) -> JsonObject:
    return {"role": "system", "tools": list(tools), **more}


def moved(tools: list[object], *messages: JsonObject) -> MovedTools:
    before = copy.deepcopy((tools, messages))
    positions = [at for at, message in enumerate(messages) if "tools" in message]
    result = move_to_top(list(messages), positions, tools)
    assert (tools, messages) == before
    return result


def test_tools_move_behind_the_top_level_ones() -> None:
    result = moved([tool("bash")], system(tool("a")), USER, system(tool("b"), content=""))
    assert result.tools == [tool("bash"), tool("a"), tool("b")]
    assert result.removed == {0, 2}


def test_the_first_declaration_of_a_name_counts() -> None:
    other = tool("a", {"type": "object"})
    custom = {"type": "custom", "custom": {"name": "a"}}
    assert moved([], system(tool("a")), system(other, custom)).tools == [tool("a")]
    assert moved([other], system(tool("a"), tool("b"))).tools == [other, tool("b")]


def test_tools_without_a_name_move_as_they_are() -> None:
    assert moved([{}], system({}, 5, {"function": {"name": ""}})).tools == [{}, {}, 5, {"function": {"name": ""}}]


@pytest.mark.parametrize("more", [{}, {"content": None}, {"content": ""}, {"content": []}, {"name": "n"}])
def test_a_message_with_nothing_else_is_removed(more: JsonObject) -> None:
    assert moved([], system(tool("a"), **more)).removed == {0}


@pytest.mark.parametrize("more", [{"content": "use these"}, {"content": [{"type": "text", "text": "x"}]}, {"x": 1}])
def test_a_message_with_something_else_stays_without_its_tools(more: JsonObject) -> None:
    result = moved([], system(tool("a"), **more))
    assert (result.removed, result.messages) == (frozenset(), [{"role": "system", **more}])


def test_the_tools_of_some_messages() -> None:
    assert list(tools_of([system(1, 2), USER, system(3)], [0, 2])) == [1, 2, 3]


def test_a_request_with_its_tools_at_the_top() -> None:
    request = {"messages": [USER, system(tool("a")), system(tool("b"), content="x")], "tools": [tool("c")]}
    assert with_tools_at_top(request) == {
        "messages": [USER, {"role": "system", "content": "x"}],
        "tools": [tool("c"), tool("a"), tool("b")],
    }
    plain = {"messages": [USER]}
    assert with_tools_at_top(plain) is plain
    assert with_tools_at_top({"messages": [system(tool("a"))]}) == {"messages": [], "tools": [tool("a")]}


def test_an_empty_list_of_tools_is_not_made() -> None:
    assert with_tools_at_top({"messages": [{"role": "system", "content": "x", "tools": []}]}) == {
        "messages": [{"role": "system", "content": "x"}]
    }
