from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.errors import BadRequest
from moongate.kimi.generations import recognise_model
from moongate.kimi.hosts import recognise_host
from moongate.kimi.ids import CallIds
from moongate.kimi.options import KimiOptions
from moongate.kimi.request.prepare import Prepared, prepare
from moongate.kimi.request.schema_cache import SchemaCache
from moongate.kimi.tool_set import ToolKeys
from moongate.payload import JsonObject

MOONSHOT = "https://api.moonshot.ai/v1"
ELSEWHERE = "https://llm.example/v1"
GOOD = "functions.bash:0"
USER: JsonObject = {"role": "user", "content": "go"}


def prepared(request: Any, *, model: str = "kimi-k2", base_url: str = ELSEWHERE, **options: Any) -> Prepared:
    chosen = KimiOptions.from_config(options)
    facts = recognise_model(model, chosen.family)
    return prepare(
        request,
        chosen,
        facts,
        recognise_host(base_url, chosen.host),
        SchemaCache(),
        CallIds(chosen, facts.family.id_rule),
    )


def call(call_id: Any, name: str = "bash", arguments: Any = "{}") -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls: JsonObject, **more: Any) -> JsonObject:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def tool_message(tool_call_id: Any, content: str = "ok") -> JsonObject:
    return {"role": "tool", "tool_call_id": tool_call_id, "content": content}


def tool(name: str, *keys: str) -> JsonObject:
    parameters = {"type": "object", "properties": {key: {"type": "string"} for key in keys}}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def test_a_plain_request_is_the_same_object() -> None:
    request = {"model": "m", "messages": [{"role": "system", "content": "s"}, USER], "stream": True, "x": [1]}
    result = prepared(request)
    assert result.request is request
    assert result.notes == []
    assert not result.tool_set.calls_allowed


@pytest.mark.parametrize("request_", [None, [], "go", 5])
def test_a_request_is_an_object(request_: Any) -> None:
    with pytest.raises(BadRequest) as refusal:
        prepared(request_)
    assert refusal.value.status == 400


def test_the_tool_set_contains_every_tool() -> None:
    search = {"type": "builtin_function", "function": {"name": "$web_search"}}
    messages = [{"role": "system", "content": "", "tools": [tool("late", "b")]}, USER]
    tool_set = prepared({"messages": messages, "tools": [tool("early", "a"), search]}).tool_set
    assert dict(tool_set.tools) == {
        "early": ToolKeys(frozenset("a")),
        "$web_search": ToolKeys(),
        "late": ToolKeys(frozenset("b")),
    }
    assert tool_set.calls_allowed


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        ({"messages": [USER]}, False),
        ({"messages": [USER], "tools": []}, False),
        ({"messages": [USER], "tools": [5]}, False),
        ({"messages": [USER], "tools": "odd"}, False),
        ({"messages": [USER], "tools": [tool("a")]}, True),
        ({"messages": [USER], "tools": [tool("a")], "tool_choice": "none"}, False),
        ({"messages": [{"role": "system", "content": "", "tools": [tool("a")]}]}, True),
        ({"messages": [assistant(call("functions.bash:0")), tool_message("functions.bash:0")]}, True),
        ({"messages": [assistant(call("a")), tool_message("a")], "tool_choice": "none"}, False),
    ],
)
def test_calls_are_allowed_if_there_is_something_to_call(request_: JsonObject, allowed: bool) -> None:
    assert prepared(request_).tool_set.calls_allowed is allowed


def test_the_default_choice_can_forbid_calls() -> None:
    result = prepared({"messages": [USER], "tools": [tool("a")]}, toolChoiceDefault="none")
    assert result.request["tool_choice"] == "none"
    assert not result.tool_set.calls_allowed


def test_the_default_choice_is_adapted_to_the_host() -> None:
    request = {"messages": [USER], "tools": [tool("get_it")]}
    result = prepared(request, model="kimi-k2.6", base_url=MOONSHOT, toolChoiceDefault="required")
    assert result.request["tool_choice"] == "auto"


@pytest.mark.parametrize("safe", ["functions_bash_0", "Bash_0", "toolu_x", "call_1", "functionsbash0", "bash:0", "0"])
def test_sanitised_ids_that_clients_send_back_are_repaired(safe: str) -> None:
    result = prepared({"messages": [USER, assistant(call(safe)), tool_message(safe)]})
    assert result.request["messages"] == [USER, assistant(call("functions.bash:0")), tool_message("functions.bash:0")]
    assert result.notes == [Note("history_id", "messages[1].tool_calls[0].id", safe, "functions.bash:0")]


def test_the_call_ids_continue_from_the_history() -> None:
    result = prepared({"messages": [assistant(call("x"), call("functions.bash:4")), tool_message("x")]})
    assert result.call_ids.fork().claim("functions.bash:4", "bash") == "functions.bash:5"


def test_ids_in_place_of_names_become_names() -> None:
    messages = [assistant(call("functions_bash_0", "functions_bash_0")), tool_message("functions_bash_0")]
    result = prepared({"messages": messages, "tools": [tool("bash")]})
    assert result.request["messages"] == [assistant(call("functions.bash:0")), tool_message("functions.bash:0")]
    assert (
        prepared({"messages": messages, "tools": [tool("bash")], "tool_choice": "auto"}, repairOnMismatch=False).notes
        == []
    )


def test_each_option_switches_its_rules_off() -> None:
    messages = [
        {"role": "developer", "content": "d"},
        assistant(call("x", arguments="oops"), reasoning="r"),
        USER,
        tool_message("x"),
    ]
    request = {
        "messages": messages,
        "tools": [{"type": "function", "function": {"name": "21st.magic"}}],
        "tool_choice": "required",
        "temperature": 0.5,
    }
    off = {
        "repairOnMismatch": False,
        "historyRules": "off",
        "reasoningHistory": "off",
        "parameterRules": "off",
        "schemaRules": "off",
    }
    kinds = {
        "repairOnMismatch": {"history_id"},
        "historyRules": {"history_message", "arguments"},
        "reasoningHistory": {"reasoning"},
        "parameterRules": {"parameter"},
        "schemaRules": {"schema", "tool_name"},
    }
    everything = prepared(request, model="kimi-k2.6", base_url=MOONSHOT)
    assert {note.kind for note in everything.notes} == set().union(*kinds.values())
    nothing = prepared(request, model="kimi-k2.6", base_url=MOONSHOT, **off)
    assert nothing.request is request
    assert nothing.notes == []
    for option, gone in kinds.items():
        left = prepared(request, model="kimi-k2.6", base_url=MOONSHOT, **{option: off[option]})
        assert {note.kind for note in left.notes} == set().union(*kinds.values()) - gone


def test_refused_names_keep_their_index_in_ids() -> None:
    messages = [assistant(call("functions.21st.magic:7", "21st.magic")), tool_message("functions.21st.magic:7")]
    request = {"messages": messages, "tools": [tool("21st.magic")]}
    result = prepared(request, model="kimi-k2-0905", base_url=MOONSHOT)
    sent = result.names.sent("21st.magic")
    assert sent != "21st.magic"
    assert result.request["messages"] == [
        assistant(call(f"functions.{sent}:7", sent)),
        tool_message(f"functions.{sent}:7"),
    ]
    assert result.tool_set.has("21st.magic")
    assert result.call_ids.fork().claim("functions.21st.magic:7", "21st.magic") == "functions.21st.magic:8"


def test_names_only_in_the_history_or_the_choice_are_renamed_too() -> None:
    messages = [assistant(call("functions.a.b:0", "a.b")), tool_message("functions.a.b:0")]
    choice = {"type": "function", "function": {"name": "c.d"}}
    result = prepared({"messages": messages, "tool_choice": choice}, model="kimi-k2-0905", base_url=MOONSHOT)
    assert set(result.names.renamed) == {"a.b", "c.d"}
    assert result.request["tool_choice"]["function"]["name"] == result.names.sent("c.d")


def test_built_in_tools_and_tools_inside_messages_are_unchanged() -> None:
    dynamic = {"role": "system", "content": "", "tools": [{"type": "function", "function": {"name": "a.b"}}]}
    messages = [
        dynamic,
        assistant(call("functions.a.b:0", "a.b"), call("functions.x:1", "x"), reasoning_content="r"),
        tool_message("functions.a.b:0"),
        tool_message("functions.x:1"),
    ]
    tools = [{"type": "builtin_function", "function": {"name": "x"}}]
    request = {"messages": messages, "tools": tools, "tool_choice": "auto"}
    assert prepared(request, model="kimi-k2.6", base_url=ELSEWHERE, schemaRules="always").request is request


def test_always_means_schemas_and_names_for_any_host() -> None:
    request = {"messages": [USER], "tools": [{"type": "function", "function": {"name": "a.b"}}]}
    function = prepared(request, schemaRules="always").request["tools"][0]["function"]
    assert function == {"name": function["name"], "parameters": {"type": "object", "properties": {}}}
    assert function["name"] != "a.b"


def test_a_later_result_replaces_no_output() -> None:
    turn, final = assistant(call("functions.bash:0")), "functions.bash:0"
    first = prepared({"messages": [turn, USER]}).request["messages"]
    assert first == [turn, tool_message(final, "(no output)"), USER]
    for history in ([turn, USER], first):
        later = prepared({"messages": [*history, tool_message(final, "late")]}).request["messages"]
        assert later == [turn, tool_message(final, "late"), USER]


def test_request_scope_numbers_each_message_independently() -> None:
    messages = [
        assistant(call("x"), call("y")),
        tool_message("x"),
        tool_message("y"),
        assistant(call("z")),
        tool_message("z"),
    ]
    result = prepared({"messages": messages}, counterScope="request").request["messages"]
    assert [each["id"] for each in result[0]["tool_calls"]] == ["functions.bash:0", "functions.bash:1"]
    assert result[3]["tool_calls"][0]["id"] == result[4]["tool_call_id"] == "functions.bash:0"


def test_the_schema_of_the_answer_is_brought_into_the_hosts_form() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["x"]}}}
    request = {"messages": [], "response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}
    sent = prepared(request, base_url="https://api.moonshot.ai/v1").request
    assert sent["response_format"]["json_schema"]["schema"]["properties"] == {"a": {"enum": ["x"], "type": "string"}}
    assert prepared(request).request is request


def system(*tools: JsonObject, **more: Any) -> JsonObject:
    return {"role": "system", "tools": list(tools), **more}


@pytest.mark.parametrize("model", ["kimi-k3", "kimi-k3.1-pro"])
def test_tools_inside_messages_are_adapted_for_k3_at_moonshot(model: str) -> None:
    messages = [system(tool("a.b", "x"), content=""), USER, assistant(call("c", "a.b"), reasoning_content="r")]
    result = prepared({"messages": messages}, model=model, base_url=MOONSHOT)
    sent = result.names.sent("a.b")
    assert result.request["messages"][0] == system(tool(sent, "x"))
    assert result.request["messages"][2]["tool_calls"][0]["function"]["name"] == sent
    assert "tools" not in result.request
    assert "tool_choice" not in result.request
    assert result.tool_set.has("a.b")
    assert result.tool_set.calls_allowed


@pytest.mark.parametrize("model", ["kimi-k2.6", "kimi-latest", "kimi-for-coding"])
@pytest.mark.parametrize("tools", [{}, {"tools": None}, {"tools": []}])
def test_tools_inside_messages_move_to_the_top_for_k2_at_moonshot(model: str, tools: JsonObject) -> None:
    messages = [system(tool("bash", "x")), USER]
    result = prepared({"messages": messages, **tools}, model=model, base_url=MOONSHOT)
    assert result.request == {"messages": [USER], "tools": [tool("bash", "x")], "tool_choice": "auto"}
    assert [note.kind for note in result.notes] == ["parameter"]
    assert result.tool_set.has("bash")


def test_an_empty_list_inside_a_message_brings_no_top_level_tools() -> None:
    result = prepared({"messages": [system(content="s"), USER]}, model="kimi-k2.6", base_url=MOONSHOT)
    assert result.request == {"messages": [{"role": "system", "content": "s"}, USER]}


@pytest.mark.parametrize("model", ["kimi-k2.6", "kimi-k3"])
@pytest.mark.parametrize("options", [{"base_url": ELSEWHERE}, {"base_url": MOONSHOT, "parameterRules": "off"}])
def test_tools_inside_messages_are_left_alone_elsewhere(model: str, options: Any) -> None:
    request = {"messages": [system(tool("bash", "x"), content=""), USER]}
    result = prepared(request, model=model, **options)
    assert result.request is request
    assert result.tool_set.has("bash")


def test_odd_top_level_tools_are_left_to_the_provider() -> None:
    request = {"messages": [system(tool("bash", "x")), USER], "tools": {"bash": 1}}
    assert prepared(request, model="kimi-k2.6", base_url=MOONSHOT).request is request


def test_errors_and_notes_name_the_positions_of_the_client() -> None:
    messages = [system(tool("bash", "x")), {"role": "tool", "content": "x"}]
    with pytest.raises(BadRequest) as refusal:
        prepared({"messages": messages}, model="kimi-k2.6", base_url=MOONSHOT)
    assert refusal.value.path == "messages[1].tool_call_id"


@pytest.mark.parametrize(("model", "others"), [("kimi-k3", 65), ("kimi-k2.6", 65), ("kimi-k2", 65)])
def test_tools_inside_messages_count_against_the_limit(model: str, others: int) -> None:
    request = {
        "messages": [system(*(tool(f"other_{n}") for n in range(others))), USER],
        "tools": [tool(f"tool_{n}") for n in range(64)],
    }
    with pytest.raises(BadRequest, match="129 tools"):
        prepared(request, model=model, base_url=MOONSHOT)
    assert prepared(request, model=model, base_url=MOONSHOT, parameterRules="off")


def test_names_of_custom_tools_are_left_alone() -> None:
    custom = {"type": "custom", "custom": {"name": "a.b"}}
    historic = {"id": "x", "type": "custom", "custom": {"name": "a.b", "input": "text"}}
    messages = [assistant(historic, reasoning_content="r"), tool_message("x")]
    sent = prepared({"messages": messages, "tools": [custom]}, model="kimi-k2.6", base_url=MOONSHOT).request
    assert sent["tools"] == [custom]
    assert sent["messages"][0]["tool_calls"] == [{**historic, "id": "functions.a.b:0"}]


def test_a_history_of_calls_without_names_allows_no_calls() -> None:
    result = prepared({"messages": [assistant(call("x", "")), tool_message("x")]})
    assert not result.tool_set.calls_allowed
