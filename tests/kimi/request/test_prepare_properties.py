"""Property tests of `prepare`; `test_prepare` has the examples."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kimi.request.test_prepare import ELSEWHERE, MOONSHOT, USER, assistant, call, prepared, tool, tool_message
from tests.support.length import examples

from moongate.errors import BadRequest
from moongate.payload import JsonObject

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


@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(request=odd_requests | json_values, target=targets, strict=st.booleans(), rules=st.sampled_from(["auto", "off"]))
def test_any_json_is_prepared_or_refused_and_never_modified(
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
    following = draw(st.sampled_from([[], [USER]]))
    return [assistant(*made), *results, *following]


conversations = st.lists(turns(), min_size=1, max_size=5)


@settings(max_examples=examples(500), deadline=None, derandomize=True)
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


@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(conversation=conversations, target=targets)
def test_ids_are_unique_results_follow_their_calls_and_a_second_pass_changes_nothing(
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


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(conversation=conversations, target=targets)
def test_no_result_is_lost_that_belongs_to_a_call(
    conversation: list[list[JsonObject]], target: tuple[str, str]
) -> None:
    request = {"messages": [message for turn in conversation for message in turn]}
    result = prepared(request, model=target[0], base_url=target[1]).request["messages"]
    before = sorted(each["content"] for each in request["messages"] if each["role"] == "tool")
    after = sorted(each["content"] for each in result if each["role"] == "tool" and each["content"] != "(no output)")
    assert before == after
