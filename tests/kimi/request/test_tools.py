from __future__ import annotations

import copy
from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.errors import BadRequest
from moongate.kimi.notes import Notes
from moongate.kimi.request.schema_cache import SchemaCache
from moongate.kimi.request.schema_writer import SchemaWriter
from moongate.kimi.request.tool_names import MOONSHOT_NAME, UNCHANGED, ToolNames
from moongate.kimi.request.tools import (
    OfferedTools,
    chosen_function,
    function_names,
    is_function_tool,
    parameters_by_name,
    requires_call,
    write_tools,
)
from moongate.kimi.tool_set import ToolKeys
from moongate.payload import JsonObject

GOOD = {"type": "object", "properties": {"q": {"type": "string"}}}
LOOSE = {"type": "object", "properties": {"q": {"enum": ["a"], "format": "x"}}}
TIGHT = {"type": "object", "properties": {"q": {"enum": ["a"], "type": "string"}}}


def tool(name: Any, parameters: Any = None, **more: Any) -> JsonObject:
    function = {"name": name} if parameters is None else {"name": name, "parameters": parameters}
    return {"type": "function", "function": function, **more}


def written(body: JsonObject, names: ToolNames = UNCHANGED) -> tuple[JsonObject, Notes]:
    before = copy.deepcopy(body)
    notes = Notes()
    result = write_tools(body, names, SchemaWriter(SchemaCache(), notes, "ultra"), notes)
    assert body == before
    return result, notes


def test_functions_and_built_in_tools_are_offered_by_name() -> None:
    tools = [tool("a", GOOD), {"type": "builtin_function", "function": {"name": "$web_search"}}, tool("b")]
    assert parameters_by_name(tools) == {"a": GOOD, "$web_search": None, "b": None}


def test_what_has_no_name_is_not_offered() -> None:
    assert parameters_by_name([5, None, {}, {"function": 5}, {"function": {}}, tool(5), tool("")]) == {}


def test_the_keys_of_a_tool_are_computed_on_demand() -> None:
    offered = OfferedTools(
        [
            5,
            tool("full", {"properties": {"a": {}, "b": {}}, "required": ["a", 5]}),
            tool("odd", {"properties": [], "required": "a"}),
            tool("none", None),
        ]
    )
    assert offered
    assert not OfferedTools([5, tool("")])
    assert offered["full"] == ToolKeys(frozenset("ab"), frozenset("a"))
    assert offered["odd"] == offered["none"] == ToolKeys()
    assert list(offered) == ["full", "odd", "none"]
    assert len(offered) == 3
    assert "full" in offered
    assert "lost" not in offered


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        (tool("a"), True),
        ({"function": {"name": "a"}}, True),
        ({"type": None, "function": {"name": "a"}}, True),
        ({"type": "builtin_function", "function": {"name": "$web_search"}}, False),
        ({"type": "function"}, False),
        (tool(""), False),
        (tool(5), False),
        (5, False),
    ],
)
def test_function_tools(each: Any, expected: bool) -> None:
    assert is_function_tool(each) is expected


def test_accepted_tools_are_unchanged() -> None:
    body = {"tools": [tool("a", GOOD), {"type": "builtin_function", "function": {"name": "$x"}}, 5, tool("b", "odd")]}
    result, notes = written(body)
    assert result is body
    assert notes == []
    assert written({"tools": "odd"})[0] == {"tools": "odd"}


def test_schemas_are_normalised() -> None:
    result, notes = written({"tools": [tool("a", GOOD), tool("b", LOOSE, x=1), tool("c")], "y": 2})
    empty = {"type": "object", "properties": {}}
    assert result == {"tools": [tool("a", GOOD), tool("b", TIGHT, x=1), tool("c", empty)], "y": 2}
    assert notes == [
        Note("schema", "tools[1].function.parameters", LOOSE, TIGHT),
        Note("schema", "tools[2].function.parameters", None, empty),
    ]


def test_a_schema_that_cannot_be_normalised_is_refused_with_the_name_of_the_tool() -> None:
    with pytest.raises(BadRequest, match="fetch_page"):
        written(
            {"tools": [tool("fetch_page", {"type": "object", "properties": {"a": {"$ref": "https://x.example/s"}}})]}
        )


def test_an_empty_list_and_true_are_no_parameters() -> None:
    result, notes = written({"tools": [tool("f", []), tool("g", True)]})
    assert [each["function"]["parameters"] for each in result["tools"]] == [{"type": "object", "properties": {}}] * 2
    assert [note.where for note in notes] == ["tools[0].function.parameters", "tools[1].function.parameters"]


def test_refused_names_are_renamed() -> None:
    names = ToolNames.of(["21st.magic"], MOONSHOT_NAME)
    sent = names.sent("21st.magic")
    choice = {"type": "function", "function": {"name": "21st.magic", "x": 1}}
    result, notes = written({"tools": [tool("21st.magic", GOOD)], "tool_choice": choice}, names)
    assert result["tools"] == [tool(sent, GOOD)]
    assert result["tool_choice"] == {"type": "function", "function": {"name": sent, "x": 1}}
    places = ("tools[0].function.name", "tool_choice.function.name")
    assert notes == [Note("tool_name", place, "21st.magic", sent) for place in places]
    other = {"tools": [tool("bash", GOOD)], "tool_choice": "auto"}
    assert written(other, names)[0] is other


def test_refused_names_are_renamed_where_a_tool_choice_lists_them() -> None:
    names = ToolNames.of(["21st.magic"], MOONSHOT_NAME)
    sent = names.sent("21st.magic")
    allowed = {"mode": "auto", "tools": [tool("bash"), tool("21st.magic"), tool("21st.magic"), "odd"]}
    body = {"tools": [tool("21st.magic", GOOD)], "tool_choice": {"type": "allowed_tools", "allowed_tools": allowed}}
    result, notes = written(body, names)
    assert result["tool_choice"] == {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [tool("bash"), tool(sent), tool(sent), "odd"]},
    }
    listed = "tool_choice.allowed_tools.tools"
    places = ("tools[0].function.name", f"{listed}[1].function.name", f"{listed}[2].function.name")
    assert notes == [Note("tool_name", place, "21st.magic", sent) for place in places]
    for odd in ({"tools": 5}, {}, 5, {"tools": [tool("bash")]}):
        choice = {"type": "allowed_tools", "allowed_tools": odd}
        assert written({"tools": [tool("21st.magic", GOOD)], "tool_choice": choice}, names)[0]["tool_choice"] is choice


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ({"function": {"name": "a"}}, "a"),
        ({"function": {"name": 5}}, ""),
        ({"function": 5}, ""),
        ("auto", ""),
        (None, ""),
    ],
)
def test_the_function_that_a_tool_choice_names(choice: Any, name: str) -> None:
    assert chosen_function(choice) == name


@pytest.mark.parametrize(
    ("choice", "required"),
    [
        ("required", True),
        ({"type": "function", "function": {"name": "bash"}}, True),
        ({"type": "custom", "custom": {"name": "patch"}}, True),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}, True),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, False),
        ({"type": "function"}, False),
        ("auto", False),
        ("none", False),
        (None, False),
    ],
)
def test_tool_choices_that_demand_a_call(choice: Any, required: bool) -> None:
    assert requires_call(choice) is required


def test_functions_are_told_from_other_tools() -> None:
    function = {"type": "function", "function": {"name": "read"}}
    others: list[Any] = [{"type": "builtin_function", "function": {"name": "$web_search"}}, {"type": "function"}, 1]
    assert function_names([function, *others]) == (["read"], others)
