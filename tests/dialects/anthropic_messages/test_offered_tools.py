from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.anthropic_messages.offered_tools import LoadedTools, offered_tools
from moongate.dialects.anthropic_messages.request import chat_request
from moongate.errors import BadRequest
from moongate.payload import JsonObject

SEARCH: JsonObject = {"name": "ToolSearch", "input_schema": {"type": "object"}}
MAIL: JsonObject = {"name": "mail", "input_schema": {"type": "object"}, "defer_loading": True}
CHAT: JsonObject = {"name": "chat", "input_schema": {"type": "object"}, "defer_loading": True}
REGEX = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
USER = {"role": "user", "content": "go"}


def reference(name: object) -> JsonObject:
    return {"type": "tool_reference", "tool_name": name}


def use(name: str, call: str = "toolu_1") -> JsonObject:
    return {"type": "tool_use", "id": call, "name": name, "input": {}}


def result(*content: JsonObject, call: str = "toolu_1") -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call, "content": list(content)}


def asked(*blocks: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: JsonObject) -> JsonObject:
    return {"role": "user", "content": list(blocks)}


def test_tools_whose_schema_is_known_are_few() -> None:
    """Each takes a schema of eight hundred bytes."""
    editors: list[JsonObject] = [{"type": "text_editor_20250728", "name": f"edit{n}"} for n in range(129)]
    assert len(offered_tools({"tools": [*editors[:128], MAIL]}).tools) == 128
    own = [{**editor, "input_schema": {}} for editor in editors]
    assert len(offered_tools({"tools": own}).tools) == 129
    with pytest.raises(BadRequest, match="more than 128") as caught:
        offered_tools({"tools": editors})
    assert caught.value.path == "tools[128]"


SEARCHED = [USER, asked(use("ToolSearch")), user(result(reference("mail")))]


def names(offered: LoadedTools) -> tuple[list[str], dict[int, list[str]]]:
    def of(tools: list[JsonObject]) -> list[str]:
        return [tool["function"]["name"] for tool in tools]

    return of(offered.tools), {index: of(tools) for index, tools in offered.loaded.items()}


@pytest.mark.parametrize(
    ("tools", "messages", "top", "loaded"),
    [
        ([SEARCH], [USER], ["ToolSearch"], {}),
        ([SEARCH, MAIL, CHAT], [USER], ["ToolSearch"], {}),
        ([SEARCH, MAIL, CHAT], SEARCHED, ["ToolSearch"], {2: ["mail"]}),
        # A tool is loaded once, and stays where it was loaded.
        ([MAIL, SEARCH, CHAT], [*SEARCHED, *SEARCHED[1:]], ["ToolSearch"], {2: ["mail"]}),
        (
            [SEARCH, MAIL, CHAT],
            [*SEARCHED, asked(use("ToolSearch")), user(result(reference("chat"), reference("mail")))],
            ["ToolSearch"],
            {2: ["mail"], 4: ["chat"]},
        ),
        # The order of declaration counts in one message, and unknown names do not.
        (
            [SEARCH, MAIL, CHAT],
            [user(*map(reference, ("chat", "x", 3, "mail")))],
            ["ToolSearch"],
            {0: ["mail", "chat"]},
        ),
        # What is not deferred is there already.
        ([SEARCH], [user(reference("ToolSearch"))], ["ToolSearch"], {}),
        # Nobody here can search for Anthropic's servers, and nothing can search if all is deferred.
        ([SEARCH, REGEX, MAIL], [USER], ["ToolSearch", "mail"], {}),
        ([SEARCH, REGEX, MAIL], SEARCHED, ["ToolSearch", "mail"], {}),
        ([MAIL, CHAT], [USER], ["mail", "chat"], {}),
        ([SEARCH, MAIL, {**MAIL, "defer_loading": False}], [USER], ["ToolSearch"], {}),
        # What was called is known, whoever has cut its loading off. What was sent before stays as it is.
        ([SEARCH, MAIL], [USER, asked(use("mail")), user(result())], ["ToolSearch"], {1: ["mail"]}),
        ([SEARCH, MAIL], [USER, asked(use("mail")), *SEARCHED], ["ToolSearch"], {1: ["mail"]}),
        ([SEARCH, MAIL], [*SEARCHED, asked(use("mail")), user(result())], ["ToolSearch"], {2: ["mail"]}),
        ([SEARCH, MAIL], "x", ["ToolSearch"], {}),
        ([SEARCH, MAIL], [None, {"content": "x"}, {"content": [None]}], ["ToolSearch"], {}),
    ],
)
def test_deferred_tools_are_offered_where_they_are_loaded(
    tools: list[JsonObject], messages: Any, top: list[str], loaded: dict[int, list[str]]
) -> None:
    offered = offered_tools({"tools": tools, "messages": messages})
    assert names(offered) == (top, loaded)
    assert offered.names == {*top, *(name for several in loaded.values() for name in several)}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "mail"}},
        {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "mail"}}},
        {"type": "tool_search_tool_result", "content": {"tool_references": [reference("mail")]}},
        reference("mail"),
    ],
)
def test_every_place_where_a_tool_is_loaded(block: JsonObject) -> None:
    body = {"tools": [SEARCH, MAIL], "messages": [USER, {"role": "user", "content": [block]}]}
    assert names(offered_tools(body)) == (["ToolSearch"], {1: ["mail"]})


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_addition"},
        {"type": "tool_addition", "tool": {"type": "tool_reference"}},
        {"type": "tool_search_tool_result", "content": "none"},
        {"type": "tool_search_tool_result", "content": {"tool_references": None}},
        {"type": "tool_result", "content": "Tool mail is available."},
        {"type": "tool_result", "content": ["mail"]},
        {"type": "tool_reference"},
    ],
)
def test_what_loads_nothing(block: JsonObject) -> None:
    body = {"tools": [SEARCH, MAIL], "messages": [{"role": "user", "content": [block]}]}
    assert names(offered_tools(body)) == (["ToolSearch"], {})


def test_tools_that_messages_declare() -> None:
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "late"}}}
    again = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "ToolSearch"}}}
    body = {"tools": [SEARCH], "messages": [USER, {"role": "system", "content": [added, again]}, user(added)]}
    assert names(offered_tools(body)) == (["ToolSearch"], {1: ["late"]})
    assert names(offered_tools({"messages": [user(added)]})) == ([], {0: ["late"]})


@pytest.mark.parametrize("choice", [{"type": "tool", "name": "mail"}, {"type": "auto"}, "auto"])
def test_a_tool_that_is_forced_is_offered(choice: Any) -> None:
    offered = offered_tools({"tools": [SEARCH, MAIL], "messages": [USER], "tool_choice": choice})
    assert ("mail" in offered.names) is (choice == {"type": "tool", "name": "mail"})


def test_loaded_tools_become_a_message_behind_the_results() -> None:
    both = [use("ToolSearch"), use("Read", "toolu_2")]
    results = user({"type": "text", "text": "so"}, result(reference("mail")), result(call="toolu_2"))
    request = chat_request({"tools": [SEARCH, MAIL], "messages": [USER, asked(*both), results], "max_tokens": 5})
    mail = {"type": "function", "function": {"name": "mail", "parameters": {"type": "object"}}}
    assert [(message["role"], message.get("tools")) for message in request["messages"]] == [
        ("user", None),
        ("assistant", None),
        ("tool", None),
        ("tool", None),
        ("system", [mail]),
        ("user", None),
    ]
    assert "content" not in request["messages"][4]
    assert request["messages"][2]["content"] == "Tool mail is available."
    assert [tool["function"]["name"] for tool in request["tools"]] == ["ToolSearch"]


def test_tools_that_the_assistants_message_loads_come_behind_its_results() -> None:
    found = {"type": "tool_search_tool_result", "content": {"tool_references": [reference("mail")]}}
    messages: list[JsonObject] = [USER, asked(found, use("ToolSearch")), user(result())]
    roles = [message["role"] for message in chat_request({"tools": [SEARCH, MAIL], "messages": messages})["messages"]]
    assert roles == ["user", "assistant", "tool", "system"]
    roles = [
        message["role"] for message in chat_request({"tools": [SEARCH, MAIL], "messages": messages[:2]})["messages"]
    ]
    assert roles == ["user", "system", "assistant"]


def test_tools_that_a_system_message_adds() -> None:
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "late"}}}
    system = {"role": "system", "content": [{"type": "text", "text": "Be brief."}, added]}
    late = {"type": "function", "function": {"name": "late"}}
    request = chat_request({"messages": [USER, system], "tool_choice": {"type": "tool", "name": "late"}})
    assert request["messages"] == [
        USER,
        {"role": "system", "tools": [late]},
        {"role": "system", "content": "Be brief."},
    ]
    assert "tools" not in request
    assert request["tool_choice"] == {"type": "function", "function": {"name": "late"}}
