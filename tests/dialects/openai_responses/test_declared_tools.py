from __future__ import annotations

import pytest

from moongate.dialects.openai_responses.declared_tools import (
    CalledTool,
    DeclaredTool,
    called_tools,
    declared_tools,
    flat_name,
    function_of,
    tool_names,
)
from moongate.errors import BadRequest
from moongate.payload import JsonObject

F = {"type": "function", "name": "f"}


@pytest.mark.parametrize("other", [None, {"role": "user", "content": "hi"}])
def test_every_declaration_has_its_path(other: JsonObject | None) -> None:
    space = {"type": "namespace", "name": "n", "tools": [{"name": "a", "defer_loading": True}, {"type": "mcp"}]}
    body = {
        "tools": [F, space],
        "input": [
            other,
            {"type": "additional_tools", "tools": [F]},
            {"type": "tool_search_output", "tools": [F]},
        ],
    }
    assert declared_tools(body) == [
        DeclaredTool("tools[0]", F, CalledTool("function", "f")),
        DeclaredTool("tools[1].tools[0]", space["tools"][0], CalledTool("function", "a", "n"), deferred=True),  # type: ignore[arg-type]
        DeclaredTool("tools[1].tools[1]", {"type": "mcp"}, None),
        DeclaredTool("input[1].tools[0]", F, CalledTool("function", "f")),
        DeclaredTool("input[2].tools[0]", F, CalledTool("function", "f"), loaded_at=2),
    ]
    assert declared_tools({}) == []


def test_tools_are_equal_by_what_the_client_calls_them() -> None:
    assert CalledTool("function", "f") == CalledTool("function", "f")
    assert len({CalledTool("function", "f"), CalledTool("custom", "f"), CalledTool("function", "f", "n")}) == 3
    assert CalledTool("function", "f") != "f"


def test_custom_tools_and_tools_of_the_client() -> None:
    tools = [{"type": "custom", "name": "c"}, {"type": "shell"}, {"function": {"name": "g"}}]
    called = [each.called for each in declared_tools({"tools": tools})]
    assert called == [CalledTool("custom", "c"), CalledTool("shell", "shell"), CalledTool("function", "g")]


@pytest.mark.parametrize(
    ("tools", "path"),
    [
        ("x", "tools"),
        ([3], "tools[0]"),
        ([{}], "tools[0].name"),
        ([{"type": "namespace"}], "tools[0].name"),
        ([{"type": "namespace", "name": "n" * 257, "tools": []}], "tools[0].name"),
    ],
)
def test_malformed_declarations_are_refused(tools: object, path: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        declared_tools({"tools": tools})
    assert refusal.value.path == path


def test_what_was_called() -> None:
    items = [
        5,
        {"type": "message"},
        {"type": "function_call", "name": "f", "namespace": "n"},
        {"type": "custom_tool_call", "name": "c", "namespace": 5},
        {"type": "function_call", "name": "f", "namespace": "n"},
    ]
    assert called_tools({"input": items}) == {CalledTool("function", "f", "n"): 2, CalledTool("custom", "c"): 3}
    assert called_tools({"input": "hi"}) == {}


def test_names() -> None:
    assert [flat_name("f", space) for space in (None, "n", "n__")] == ["f", "n__f", "n__f"]
    space = {"type": "namespace", "name": "n", "tools": [F]}
    assert tool_names([F, space, {"type": "mcp"}]) == ["f", "n__f"]
    assert tool_names(None) == []
    assert function_of({"function": {"name": "g"}}) == {"name": "g"}
