from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.dialects.responses.tools import Called, choice_fields, flat_name, left_out_tools, toolbox
from moongate.errors import BadRequest

F = {"type": "function", "name": "f", "description": "Does.", "strict": False, "parameters": {"type": "object"}}
NAMESPACE = {"type": "namespace", "name": "agents", "description": "All.", "tools": [{**F, "name": "close"}]}
CUSTOM = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Patches.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"},
}


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in toolbox(body).tools]


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def test_functions() -> None:
    box = toolbox({"tools": [F]})
    function = {"name": "f", "description": "Does.", "strict": False, "parameters": {"type": "object"}}
    assert box.tools == ({"type": "function", "function": function},)
    assert box.called("f") == Called("function", "f")
    assert box.called("unknown") == Called("function", "unknown")
    assert box.called("f") != "f"
    assert left_out_tools({"tools": [F]}) == []


def test_the_shape_of_chat_is_understood() -> None:
    assert names({"tools": [{"type": "function", "function": {"name": "f"}}, {"name": "g"}]}) == ["f", "g"]


def test_namespaces_are_flattened_and_found_again() -> None:
    box = toolbox({"tools": [NAMESPACE, {**NAMESPACE, "name": "mcp__git__"}]})
    assert [tool["function"]["name"] for tool in box.tools] == ["agents__close", "mcp__git__close"]
    assert box.called("agents__close") == Called("function", "close", "agents")
    assert box.name_of("close", "agents") == "agents__close"
    assert box.name_of("close", None) == "close"
    assert box.name_of("gone", "agents") == "agents__gone"
    assert flat_name("log", "mcp__git__") == "mcp__git__log"


def test_flattened_names_that_collide_are_told_apart() -> None:
    box = toolbox(
        {
            "tools": [
                {"name": "agents__close"},
                NAMESPACE,
                {"name": "agents__close_2"},
                {**CUSTOM, "name": "agents__close"},
            ]
        }
    )
    assert [tool["function"]["name"] for tool in box.tools] == [
        "agents__close",
        "agents__close_2",
        "agents__close_2_2",
        "agents__close_3",
    ]
    for name, called in box.meant.items():
        assert box.name_of(called.name, called.namespace, called.kind) == name


def test_a_tool_that_is_repeated_is_offered_once() -> None:
    assert names({"tools": [F, F]}) == ["f"]


def test_custom_tools_take_one_text() -> None:
    box = toolbox({"tools": [CUSTOM, {"type": "custom", "name": "raw", "format": {"type": "text"}}]})
    function = box.tools[0]["function"]
    assert function["description"] == "Patches.\n\nThe input follows this grammar:\nstart: x"
    assert function["parameters"]["required"] == ["input"]
    assert box.called("apply_patch") == Called("custom", "apply_patch")
    assert "description" not in box.tools[1]["function"]


def test_the_local_shell_and_the_clients_tool_search() -> None:
    search = {"type": "tool_search", "execution": "client", "description": "Finds.", "parameters": {"type": "object"}}
    box = toolbox({"tools": [{"type": "local_shell"}, search]})
    assert box.called("local_shell") == Called("local_shell", "local_shell")
    assert box.called("tool_search") == Called("tool_search", "tool_search")
    assert box.tools[0]["function"]["parameters"]["required"] == ["command"]
    assert box.tools[1]["function"]["parameters"] == {"type": "object"}


def test_tools_of_openais_servers_are_left_out_with_a_note() -> None:
    inner = {**NAMESPACE, "tools": [F, {"type": "image_generation"}]}
    search = {"type": "web_search", "external_web_access": True}
    body = {"tools": [search, F, {"type": "tool_search"}], "input": [{"type": "additional_tools", "tools": [inner]}]}
    assert names(body) == ["f", "agents__f"]
    assert left_out_tools(body) == [
        Note("parameter", "tools[0]", before="web_search"),
        Note("parameter", "tools[2]", before="tool_search"),
        Note("parameter", "input[0].tools[0].tools[1]", before="image_generation"),
    ]


def test_of_namespaces_in_one_another_the_outermost_counts() -> None:
    inner = {"type": "namespace", "name": "inner", "tools": [{"name": "a"}, {"name": "b"}]}
    outer = {"type": "namespace", "name": "outer", "tools": [{"name": "first"}, inner, {"name": "last"}]}
    assert names({"tools": [outer, inner]}) == [
        "outer__first",
        "outer__a",
        "outer__b",
        "outer__last",
        "inner__a",
        "inner__b",
    ]


def test_namespaces_may_be_nested_as_deep_as_anybody_likes() -> None:
    tool: dict[str, Any] = {"name": "f"}
    for _ in range(5000):
        tool = {"type": "namespace", "name": "n", "tools": [tool]}
    assert names({"tools": [tool]}) == ["n__f"]
    tool = {"tools": [tool]}
    while tool:  # nor does it fall with a crash
        tool = (tool.pop("tools", None) or [{}])[0]


def test_tools_that_the_input_brings_along() -> None:
    items = [
        None,
        {"type": "message"},
        {"type": "additional_tools", "tools": [F]},
        {"type": "tool_search_output", "tools": [NAMESPACE]},
    ]
    assert names({"input": items}) == ["f", "agents__close"]
    assert names({"input": "hi"}) == []


@pytest.mark.parametrize(
    ("tools", "path"),
    [
        ("x", "tools"),
        ([3], "tools[0]"),
        ([{"type": "function"}], "tools[0].name"),
        ([{"type": "custom", "name": 3}], "tools[0].name"),
        ([{"type": "namespace", "tools": []}], "tools[0].name"),
        ([{**NAMESPACE, "tools": "x"}], "tools[0].tools"),
        ([{**NAMESPACE, "tools": [F, {"type": "function"}]}], "tools[0].tools[1].name"),
    ],
)
def test_bad_tools_are_refused_with_their_path(tools: Any, path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        toolbox({"tools": tools})
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "name": "f"}, named("f")),
        ({"type": "function", "name": "close", "namespace": "agents"}, named("agents__close")),
        ({"type": "custom", "name": "apply_patch"}, named("apply_patch")),
        ({"type": "web_search"}, "auto"),
        ({"type": "function", "name": "gone"}, "auto"),
    ],
)
def test_the_choice(choice: Any, expected: Any) -> None:
    box = toolbox({"tools": [F, NAMESPACE, CUSTOM]})
    assert choice_fields(choice, box) == {"tools": list(box.tools), "tool_choice": expected}


def test_no_choice() -> None:
    box = toolbox({"tools": [F]})
    assert choice_fields(None, box) == {"tools": list(box.tools)}
    assert choice_fields("required", toolbox({})) == {}


@pytest.mark.parametrize("choice", ["any", 3])
def test_a_choice_that_is_none(choice: Any) -> None:
    with pytest.raises(BadRequest, match="tool_choice"):
        choice_fields(choice, toolbox({"tools": [F]}))


def test_only_some_tools_are_allowed() -> None:
    box = toolbox({"tools": [F, NAMESPACE, CUSTOM]})
    listed = [{"type": "function", "name": "f"}, {"type": "custom", "name": "apply_patch"}, None]
    fields = choice_fields({"type": "allowed_tools", "mode": "required", "tools": listed}, box)
    assert [tool["function"]["name"] for tool in fields["tools"]] == ["f", "apply_patch"]
    assert fields["tool_choice"] == "required"
    fields = choice_fields({"type": "allowed_tools", "mode": "required", "tools": None}, box)
    assert (len(fields["tools"]), fields["tool_choice"]) == (3, "auto")
