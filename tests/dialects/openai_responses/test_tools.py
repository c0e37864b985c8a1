from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.dialects.openai_responses.declared_tools import CalledTool, flat_name
from moongate.dialects.openai_responses.tools import Toolbox, choice_fields, left_out_tools, toolbox
from moongate.errors import BadRequest
from moongate.payload import JsonObject

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
    assert box.tools == [{"type": "function", "function": function}]
    assert box.called("f") == CalledTool("function", "f")
    assert box.called("unknown") == CalledTool("function", "unknown")
    assert box.called("f") != "f"
    assert left_out_tools({"tools": [F]}) == []


def test_tools_in_chat_format_are_accepted() -> None:
    assert names({"tools": [{"type": "function", "function": {"name": "f"}}, {"name": "g"}]}) == ["f", "g"]


def test_namespaces_are_flattened_and_mapped_back() -> None:
    box = toolbox({"tools": [NAMESPACE, {**NAMESPACE, "name": "mcp__git__"}]})
    assert [tool["function"]["name"] for tool in box.tools] == ["agents__close", "mcp__git__close"]
    assert box.called("agents__close") == CalledTool("function", "close", "agents")
    assert box.name_of("close", "agents") == "agents__close"
    assert box.name_of("close", None) == "close"
    assert box.name_of("gone", "agents") == "agents__gone"
    assert flat_name("log", "mcp__git__") == "mcp__git__log"


def test_flattened_names_that_collide_get_a_number() -> None:
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
    for name, called in box.by_name.items():
        assert box.name_of(called.name, called.namespace, called.kind) == name


def test_each_number_of_names_that_collide_is_tried_once() -> None:
    """Thousands of tools, split at different places into namespace and name, may have one flat name."""

    class Watched(dict[str, CalledTool]):
        looks = 0

        def __contains__(self, name: object) -> bool:
            self.looks += 1
            return super().__contains__(name)

    box = Toolbox()
    box.by_name = watched = Watched()
    parts = ["a"] * 100
    for cut in range(1, len(parts)):
        box.add_name(CalledTool("function", "__".join(parts[cut:]), "__".join(parts[:cut])))
    assert len(box.names) == len(parts) - 1
    assert watched.looks < 3 * len(parts)


def test_a_tool_that_is_repeated_is_offered_once() -> None:
    assert names({"tools": [F, F]}) == ["f"]


def test_custom_tools_become_functions_with_one_string() -> None:
    box = toolbox({"tools": [CUSTOM, {"type": "custom", "name": "raw", "format": {"type": "text"}}]})
    function = box.tools[0]["function"]
    assert function["description"] == "Patches.\n\nThe input follows this grammar:\nstart: x"
    assert function["parameters"]["required"] == ["input"]
    assert box.called("apply_patch") == CalledTool("custom", "apply_patch")
    assert "description" not in box.tools[1]["function"]


def test_the_local_shell_and_the_clients_tool_search() -> None:
    search = {"type": "tool_search", "execution": "client", "description": "Finds.", "parameters": {"type": "object"}}
    box = toolbox({"tools": [{"type": "local_shell"}, search]})
    assert box.called("local_shell") == CalledTool("local_shell", "local_shell")
    assert box.called("tool_search") == CalledTool("tool_search", "tool_search")
    assert box.tools[0]["function"]["parameters"]["required"] == ["command"]
    assert box.tools[1]["function"]["parameters"] == {"type": "object"}


SEARCH = {"type": "tool_search", "execution": "client"}
LATER = {"type": "function", "name": "later", "defer_loading": True}


def test_a_tool_search_without_a_schema_gets_one() -> None:
    function = toolbox({"tools": [SEARCH]}).tools[0]["function"]
    assert function["description"] == "Finds and loads tools."
    assert function["parameters"]["required"] == ["query"]


def test_a_deferred_tool_is_offered_when_the_client_has_loaded_it() -> None:
    space = {"type": "namespace", "name": "n", "defer_loading": True, "tools": [{"name": "a"}, {"name": "b"}]}
    body: JsonObject = {"tools": [F, SEARCH, LATER, space]}
    box = toolbox(body)
    assert [tool["function"]["name"] for tool in box.tools] == ["f", "tool_search"]
    assert (box.loaded, box.called("later")) == ({}, CalledTool("function", "later"))
    body["input"] = [
        {"type": "message"},
        {"type": "tool_search_output", "tools": [LATER]},
        {"type": "tool_search_output", "tools": [LATER, {**space, "tools": [{"name": "b"}]}]},
    ]
    loaded = toolbox(body).loaded
    assert {at: [tool["function"]["name"] for tool in tools] for at, tools in loaded.items()} == {
        1: ["later"],
        2: ["n__b"],
    }


def test_a_deferred_tool_that_was_called_is_offered_from_there_on() -> None:
    def placed(*tools: JsonObject, items: list[JsonObject]) -> tuple[list[str], dict[int, list[str]]]:
        box = toolbox({"tools": [SEARCH, *tools], "input": items})
        loaded = {at: [tool["function"]["name"] for tool in several] for at, several in box.loaded.items()}
        return [tool["function"]["name"] for tool in box.tools], loaded

    call: JsonObject = {"type": "function_call", "name": "later", "call_id": "1"}
    assert placed(LATER, items=[call]) == (["tool_search"], {0: ["later"]})
    output: JsonObject = {"type": "tool_search_output", "call_id": "2", "tools": [LATER]}
    assert placed(LATER, items=[call, output]) == (["tool_search"], {0: ["later"]})
    assert placed(LATER, items=[output, call]) == (["tool_search"], {0: ["later"]})
    custom: JsonObject = {"type": "custom_tool_call", "name": "later", "namespace": ""}
    deferred: JsonObject = {"type": "custom", "name": "later", "defer_loading": True}
    assert placed(deferred, items=[custom]) == (["tool_search"], {0: ["later"]})
    assert placed(deferred, items=[call]) == (["tool_search"], {})


def test_without_a_search_of_the_client_deferred_tools_are_offered() -> None:
    assert names({"tools": [LATER]}) == ["later"]
    assert names({"tools": [LATER, {"type": "tool_search"}]}) == ["later"]


@pytest.mark.parametrize("environment", [{}, {"environment": None}, {"environment": {"type": "local"}}])
def test_a_shell_of_the_client(environment: JsonObject) -> None:
    box = toolbox({"tools": [{"type": "shell", **environment}, {"type": "apply_patch"}]})
    assert [box.called(name).kind for name in ("shell", "apply_patch")] == ["shell", "apply_patch"]
    assert [tool["function"]["parameters"]["required"] for tool in box.tools] == [["commands"], ["type", "path"]]


@pytest.mark.parametrize("place", ["container_auto", "container_reference"])
def test_a_shell_in_a_container_of_openai_is_left_out(place: str) -> None:
    tool = {"type": "shell", "environment": {"type": place}}
    assert names({"tools": [tool]}) == []
    assert left_out_tools({"tools": [tool]}) == [Note("parameter", "tools[0]", before="shell")]


@pytest.mark.parametrize("kind", ["shell", "apply_patch", "local_shell"])
def test_a_tool_without_a_name_can_be_chosen(kind: str) -> None:
    box = toolbox({"tools": [{"name": kind}, {"type": kind}]})
    assert choice_fields({"type": kind}, box)["tool_choice"]["function"] == {"name": f"{kind}_2"}


def test_tools_that_were_loaded_can_be_chosen() -> None:
    box = toolbox({"input": [{"type": "tool_search_output", "tools": [F]}]})
    assert choice_fields("required", box) == {"tool_choice": "required"}


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


def test_of_nested_namespaces_the_outermost_counts() -> None:
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


def test_namespaces_may_be_nested_to_any_depth() -> None:
    tool: dict[str, Any] = {"name": "f"}
    for _ in range(5000):
        tool = {"type": "namespace", "name": "n", "tools": [tool]}
    assert names({"tools": [tool]}) == ["n__f"]
    tool = {"tools": [tool]}
    while tool:  # taken apart from outside: freeing it at once would overflow the stack
        tool = (tool.pop("tools", None) or [{}])[0]


def test_tools_in_input_items_are_offered() -> None:
    items = [
        None,
        {"type": "message"},
        {"type": "additional_tools", "tools": [F]},
        {"type": "tool_search_output", "tools": [NAMESPACE]},
    ]
    assert names({"input": items}) == ["f"]
    loaded = toolbox({"input": items}).loaded
    assert {at: [tool["function"]["name"] for tool in tools] for at, tools in loaded.items()} == {3: ["agents__close"]}
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
def test_invalid_tools_are_rejected_with_their_path(tools: Any, path: str) -> None:
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
def test_tool_choice(choice: Any, expected: Any) -> None:
    box = toolbox({"tools": [F, NAMESPACE, CUSTOM]})
    assert choice_fields(choice, box) == {"tools": list(box.tools), "tool_choice": expected}


def test_no_tool_choice() -> None:
    box = toolbox({"tools": [F]})
    assert choice_fields(None, box) == {"tools": list(box.tools)}
    assert choice_fields("required", toolbox({})) == {}


@pytest.mark.parametrize("choice", ["any", 3])
def test_an_invalid_tool_choice_is_rejected(choice: Any) -> None:
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


def test_an_allowed_tool_may_be_one_that_was_loaded() -> None:
    search = {"type": "tool_search", "execution": "client"}
    mail = {"type": "function", "name": "mail"}
    found = {"type": "tool_search_output", "call_id": "c", "tools": [mail]}
    box = toolbox({"tools": [search, {**mail, "defer_loading": True}], "input": [found]})
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [mail]}
    assert choice_fields(allowed, box) == {"tool_choice": "required"}
    assert choice_fields({**allowed, "tools": [{"type": "function", "name": "gone"}]}, box)["tool_choice"] == "auto"


@pytest.mark.parametrize("choice", [None, "required", {"type": "allowed_tools", "tools": []}])
def test_without_tools_at_the_top_there_is_no_empty_list(choice: Any) -> None:
    mail = {"type": "function", "name": "mail"}
    box = toolbox({"input": [{"type": "tool_search_output", "call_id": "c", "tools": [mail]}]})
    assert box.tools == []
    assert "tools" not in choice_fields(choice, box)
