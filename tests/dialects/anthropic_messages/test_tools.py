from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.dialects.anthropic_messages.tools import chat_tool, choice_fields, declared_tools, left_out_tools
from moongate.errors import BadRequest

SCHEMA = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {}}
BASH = {"name": "Bash", "description": "Runs.", "input_schema": SCHEMA}


def chat_tools(body: dict[str, Any]) -> list[dict[str, Any] | None]:
    return [chat_tool(declared.tool, declared.path) for declared in declared_tools(body)]


def function(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (BASH, function("Bash", description="Runs.", parameters=SCHEMA)),
        (
            {**BASH, "type": "custom", "cache_control": {}, "defer_loading": True, "strict": True},
            function("Bash", description="Runs.", parameters=SCHEMA, strict=True),
        ),
        ({"name": "f"}, function("f")),
        ({"name": "f", "type": "new_kind", "input_schema": {}}, function("f", parameters={})),
        (function("f", parameters={}), function("f", parameters={})),
    ],
)
def test_tools_become_functions(tool: dict[str, Any], expected: dict[str, Any]) -> None:
    assert chat_tools({"tools": [tool]}) == [expected]
    assert left_out_tools({"tools": [tool]}) == []


def test_tools_predefined_by_anthropic_get_a_schema() -> None:
    tools = chat_tools(
        {"tools": [{"type": "bash_20250124", "name": "bash"}, {"type": "text_editor_20250728", "name": "edit"}]}
    )
    functions = [tool["function"] for tool in tools if tool is not None]
    assert [each["name"] for each in functions] == ["bash", "edit"]
    assert "command" in functions[0]["parameters"]["properties"]
    assert functions[1]["parameters"]["required"] == ["command", "path"]


def test_tools_of_anthropics_servers_are_left_out_with_a_note() -> None:
    body = {"tools": [BASH, {"type": "web_search_20250305", "name": "web_search"}, {"type": "mcp_toolset"}]}
    assert chat_tools(body)[1:] == [None, None]
    assert left_out_tools(body) == [
        Note("parameter", "tools[1]", before="web_search_20250305"),
        Note("parameter", "tools[2]", before="mcp_toolset"),
    ]


def test_messages_declare_tools() -> None:
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "late"}}}
    named = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "Bash"}}
    messages = [None, {"content": "x"}, {"content": [None, {"type": "text"}, {"type": "tool_addition"}, named, added]}]
    assert list(declared_tools({"tools": [BASH], "messages": messages})) == [
        ("tools[0]", BASH, None),
        ("messages[2].content[4].tool.definition", {"name": "late"}, 2),
    ]


@pytest.mark.parametrize("body", [{}, {"tools": None}, {"tools": [], "messages": "x"}])
def test_no_tools(body: dict[str, Any]) -> None:
    assert list(declared_tools(body)) == []


@pytest.mark.parametrize(
    ("tools", "path"),
    [
        ("x", "tools"),
        ([BASH, 3], "tools[1]"),
        ([{"input_schema": {}}], "tools[0].name"),
        ([{"name": 3}], "tools[0].name"),
    ],
)
def test_invalid_tools_are_rejected_with_their_path(tools: Any, path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        chat_tools({"tools": tools})
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("choice", "fields"),
    [
        (None, {}),
        ({"type": "auto"}, {"tool_choice": "auto"}),
        ({"type": "any"}, {"tool_choice": "required"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        ("any", {"tool_choice": "required"}),
        ({"type": "tool", "name": "f"}, {"tool_choice": function("f")}),
        ({"type": "tool", "name": "web_search"}, {"tool_choice": "auto"}),
        ({"type": "tool", "name": ["f"]}, {"tool_choice": "auto"}),
        ({"type": "any", "disable_parallel_tool_use": True}, {"tool_choice": "required", "parallel_tool_calls": False}),
        ({"type": "auto", "disable_parallel_tool_use": False}, {"tool_choice": "auto"}),
    ],
)
def test_tool_choice(choice: Any, fields: dict[str, Any]) -> None:
    assert choice_fields(choice, {"f"}) == fields


@pytest.mark.parametrize("choice", [{"type": "all"}, {}, 3, "tool"])
def test_an_invalid_tool_choice_is_rejected(choice: Any) -> None:
    with pytest.raises(BadRequest, match="tool_choice"):
        choice_fields(choice, {"f"})
