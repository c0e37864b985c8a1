from __future__ import annotations

import copy
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moongate.chat.contracts import Note
from moongate.errors import BadRequest
from moongate.kimi.family import facts_of
from moongate.kimi.hosts import host_of
from moongate.kimi.ids import Ledger
from moongate.kimi.offer import ToolKeys
from moongate.kimi.options import KimiOptions
from moongate.kimi.request import Prepared, prepare
from moongate.kimi.schema_cache import SchemaCache
from moongate.payload import JsonObject

MOONSHOT = "https://api.moonshot.ai/v1"
ELSEWHERE = "https://llm.example/v1"
GOOD = "functions.bash:0"
USER: JsonObject = {"role": "user", "content": "go"}


def prepared(request: Any, *, model: str = "kimi-k2", base_url: str = ELSEWHERE, **options: Any) -> Prepared:
    chosen = KimiOptions.from_config(options)
    facts = facts_of(model, chosen)
    return prepare(request, chosen, facts, host_of(base_url, chosen), SchemaCache(), Ledger(chosen, facts.family))


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
    assert not result.offer.calls_allowed


@pytest.mark.parametrize("request_", [None, [], "go", 5])
def test_a_request_is_an_object(request_: Any) -> None:
    with pytest.raises(BadRequest) as refusal:
        prepared(request_)
    assert refusal.value.status == 400


def test_the_offer_holds_every_tool_that_can_be_called() -> None:
    search = {"type": "builtin_function", "function": {"name": "$web_search"}}
    messages = [{"role": "system", "content": "", "tools": [tool("late", "b")]}, USER]
    offer = prepared({"messages": messages, "tools": [tool("early", "a"), search]}).offer
    assert dict(offer.tools) == {
        "early": ToolKeys(frozenset("a")),
        "$web_search": ToolKeys(),
        "late": ToolKeys(frozenset("b")),
    }
    assert offer.calls_allowed


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
    assert prepared(request_).offer.calls_allowed is allowed


def test_the_default_choice_can_forbid_calls() -> None:
    result = prepared({"messages": [USER], "tools": [tool("a")]}, toolChoiceDefault="none")
    assert result.request["tool_choice"] == "none"
    assert not result.offer.calls_allowed


def test_the_default_choice_is_one_that_the_host_takes() -> None:
    request = {"messages": [USER], "tools": [tool("get_it")]}
    result = prepared(request, model="kimi-k2.6", base_url=MOONSHOT, toolChoiceDefault="required")
    assert result.request["tool_choice"] == "auto"


@pytest.mark.parametrize("safe", ["functions_bash_0", "Bash_0", "toolu_x", "call_1", "functionsbash0", "bash:0", "0"])
def test_safe_forms_that_clients_send_back_are_repaired(safe: str) -> None:
    result = prepared({"messages": [USER, assistant(call(safe)), tool_message(safe)]})
    assert result.request["messages"] == [USER, assistant(call("functions.bash:0")), tool_message("functions.bash:0")]
    assert result.notes == [Note("history_id", "messages[1].tool_calls[0].id", safe, "functions.bash:0")]


def test_the_ledger_goes_on_from_the_history() -> None:
    result = prepared({"messages": [assistant(call("x"), call("functions.bash:4")), tool_message("x")]})
    assert result.ledger.fork().claim("functions.bash:4", "bash") == "functions.bash:5"


def test_disguised_names_are_plain_again() -> None:
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


def test_names_that_the_host_refuses_keep_their_index_in_ids() -> None:
    messages = [assistant(call("functions.21st.magic:7", "21st.magic")), tool_message("functions.21st.magic:7")]
    request = {"messages": messages, "tools": [tool("21st.magic")]}
    result = prepared(request, model="kimi-k2-0905", base_url=MOONSHOT)
    sent = result.names.sent("21st.magic")
    assert sent != "21st.magic"
    assert result.request["messages"] == [
        assistant(call(f"functions.{sent}:7", sent)),
        tool_message(f"functions.{sent}:7"),
    ]
    assert result.offer.has("21st.magic")
    assert result.ledger.fork().claim("functions.21st.magic:7", "21st.magic") == "functions.21st.magic:8"


def test_names_that_only_the_history_or_the_choice_speak_of_are_renamed_too() -> None:
    messages = [assistant(call("functions.a.b:0", "a.b")), tool_message("functions.a.b:0")]
    choice = {"type": "function", "function": {"name": "c.d"}}
    result = prepared({"messages": messages, "tool_choice": choice}, model="kimi-k2-0905", base_url=MOONSHOT)
    assert set(result.names.renamed) == {"a.b", "c.d"}
    assert result.request["tool_choice"]["function"]["name"] == result.names.sent("c.d")


def test_built_in_tools_and_tools_inside_messages_travel_as_they_are() -> None:
    dynamic = {"role": "system", "content": "", "tools": [{"type": "function", "function": {"name": "a.b"}}]}
    messages = [
        dynamic,
        assistant(call("functions.a.b:0", "a.b"), call("functions.x:1", "x"), reasoning_content="r"),
        tool_message("functions.a.b:0"),
        tool_message("functions.x:1"),
    ]
    tools = [{"type": "builtin_function", "function": {"name": "x"}}]
    request = {"messages": messages, "tools": tools, "tool_choice": "auto"}
    assert prepared(request, model="kimi-k2.6", base_url=MOONSHOT).request is request


def test_always_means_schemas_and_names_for_any_host() -> None:
    request = {"messages": [USER], "tools": [{"type": "function", "function": {"name": "a.b"}}]}
    function = prepared(request, schemaRules="always").request["tools"][0]["function"]
    assert function == {"name": function["name"], "parameters": {"type": "object", "properties": {}}}
    assert function["name"] != "a.b"


def test_a_late_result_takes_the_place_of_no_output() -> None:
    turn, final = assistant(call("functions.bash:0")), "functions.bash:0"
    first = prepared({"messages": [turn, USER]}).request["messages"]
    assert first == [turn, tool_message(final, "(no output)"), USER]
    for history in ([turn, USER], first):
        later = prepared({"messages": [*history, tool_message(final, "late")]}).request["messages"]
        assert later == [turn, tool_message(final, "late"), USER]


def test_request_scope_counts_each_message_alone() -> None:
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


def one_turn(size: int, call_id: str, result_id: str) -> list[JsonObject]:
    return [assistant(*(call(call_id) for _ in range(size))), *(tool_message(result_id) for _ in range(size))]


def many_turns(size: int, call_id: str, result_id: str) -> list[JsonObject]:
    return [message for _ in range(size) for message in (assistant(call(call_id)), tool_message(result_id))]


def calls_first(size: int, call_id: str, result_id: str) -> list[JsonObject]:
    return [*(assistant(call(call_id)) for _ in range(size)), *(tool_message(result_id) for _ in range(size))]


@pytest.mark.parametrize("shape", [one_turn, many_turns, calls_first])
@pytest.mark.parametrize(
    ("call_id", "result_id"), [("c", "c"), ("c", "lost"), ("functions.bash:0", "functions.bash:0")]
)
@pytest.mark.parametrize("rules", ["auto", "off"])
def test_time_is_linear_in_the_history(
    shape: Callable[[int, str, str], list[JsonObject]], call_id: str, result_id: str, rules: str
) -> None:
    def cost(size: int) -> float:
        request = {"messages": shape(size, call_id, result_id)}
        begin = time.process_time()
        prepared(request, historyRules=rules)
        return time.process_time() - begin

    small = min(cost(500) for _ in range(3))
    large = min(cost(4_000) for _ in range(3))
    assert large < 8 * 4 * small  # quadratic would be 64 times


# Properties (section 12)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def mapping_of(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[JsonObject]:
    """An object with any of these members, each as it should be or as anything at all."""
    return st.fixed_dictionaries({}, optional={key: value | json_values for key, value in members.items()})


ids = st.sampled_from(["", "a", "b", "functions.bash:0", "functions.bash:1", "functions_bash_0"])
names = st.sampled_from(["bash", "a.b", "functions.bash:0", "$web_search"])
functions = mapping_of(name=names, arguments=st.sampled_from(["{}", "oops", '"{}"']), parameters=json_values)
calls = mapping_of(id=ids, type=st.just("function"), function=functions)
parts = st.lists(mapping_of(type=st.just("text"), text=st.sampled_from(["", "x"])), max_size=2)
tools = st.lists(mapping_of(type=st.sampled_from(["function", "builtin_function"]), function=functions), max_size=2)
odd_messages = mapping_of(
    role=st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "developer"]),
    content=st.sampled_from(["", "x"]) | parts,
    tool_calls=st.lists(calls, max_size=3),
    tool_call_id=ids,
    tools=tools,
    reasoning=st.sampled_from(["", "r"]),
    reasoning_details=st.lists(mapping_of(text=st.just("r")), max_size=2),
)
odd_requests = mapping_of(
    messages=st.lists(odd_messages | json_values, max_size=5),
    tools=tools,
    tool_choice=st.sampled_from(["auto", "none", "required"])
    | mapping_of(type=st.just("function"), function=functions),
    thinking=mapping_of(type=st.sampled_from(["enabled", "disabled"])),
    reasoning_effort=st.sampled_from(["none", "medium"]),
    max_tokens=st.integers(1, 9),
)
targets = st.sampled_from(
    [
        ("kimi-k2", ELSEWHERE),
        ("kimi-k3", ELSEWHERE),
        ("kimi-k2-0905", MOONSHOT),
        ("kimi-k2.6", MOONSHOT),
        ("k3", MOONSHOT),
    ]
)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(request=odd_requests | json_values, target=targets, strict=st.booleans(), rules=st.sampled_from(["auto", "off"]))
def test_any_json_is_prepared_or_refused_and_never_changed(
    request: Any, target: tuple[str, str], strict: bool, rules: str
) -> None:
    before = copy.deepcopy(request)
    with suppress(BadRequest):
        prepared(request, model=target[0], base_url=target[1], acceptRoleTool=strict, historyRules=rules)
    assert request == before


@st.composite
def turns(draw: st.DrawFn) -> list[JsonObject]:
    """One turn of an agent: calls with ids of any kind, then results in any order, some lost, some under odd ids."""
    given_ids = draw(st.lists(ids | st.text("xyz", min_size=1, max_size=2), min_size=1, max_size=3))
    made = [call(each, draw(st.sampled_from(["bash", "read"]))) for each in given_ids]
    answered = draw(st.permutations(given_ids))[: draw(st.integers(0, len(given_ids)))]
    results = [tool_message(each or "lost", f"{number}") for number, each in enumerate(answered)]
    said = draw(st.sampled_from([[], [USER]]))
    return [assistant(*made), *results, *said]


conversations = st.lists(turns(), min_size=1, max_size=5)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(conversation=conversations, target=targets, rules=st.sampled_from(["auto", "off"]))
def test_old_messages_never_change_as_a_conversation_grows(
    conversation: list[list[JsonObject]], target: tuple[str, str], rules: str
) -> None:
    def sent(turns: list[list[JsonObject]]) -> list[JsonObject]:
        request = {"messages": [USER, *(message for turn in turns for message in turn)]}
        result = prepared(request, model=target[0], base_url=target[1], historyRules=rules).request["messages"]
        assert isinstance(result, list)
        return result

    grown = sent(conversation)
    for length in range(len(conversation)):
        earlier = sent(conversation[:length])
        assert grown[: len(earlier)] == earlier


@settings(max_examples=500, deadline=None, derandomize=True)
@given(conversation=conversations, target=targets)
def test_ids_are_unique_results_stand_behind_their_calls_and_once_is_enough(
    conversation: list[list[JsonObject]], target: tuple[str, str]
) -> None:
    request = {"messages": [USER, *(message for turn in conversation for message in turn)], "tools": [tool("bash")]}
    once = prepared(request, model=target[0], base_url=target[1]).request
    seen: list[str] = []
    waiting: list[str] = []
    for message in once["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert waiting == []
        for each in message.get("tool_calls", ()):
            waiting.append(each["id"])
            seen.append(each["id"])
    assert waiting == []
    assert len(set(seen)) == len(seen)
    assert prepared(once, model=target[0], base_url=target[1]).request is once


@settings(max_examples=200, deadline=None, derandomize=True)
@given(conversation=conversations, target=targets)
def test_no_result_is_lost_that_belongs_to_a_call(
    conversation: list[list[JsonObject]], target: tuple[str, str]
) -> None:
    request = {"messages": [message for turn in conversation for message in turn]}
    result = prepared(request, model=target[0], base_url=target[1]).request["messages"]
    before = sorted(each["content"] for each in request["messages"] if each["role"] == "tool")
    after = sorted(each["content"] for each in result if each["role"] == "tool" and each["content"] != "(no output)")
    assert before == after
