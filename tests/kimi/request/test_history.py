from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.request.history import MISSING, NO_OUTPUT, History, is_empty, read_history
from moongate.payload import JsonObject


def assistant(*ids: str | None) -> JsonObject:
    calls = [{"id": each, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for each in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(tool_call_id: Any, content: Any = "ok") -> JsonObject:
    return {"role": "tool", "tool_call_id": tool_call_id, "content": content}


USER: JsonObject = {"role": "user", "content": "go"}


def pairs(*messages: JsonObject, accept_role_tool: bool = False) -> list[tuple[int, int] | None]:
    """For each result the place of its message and of its call in it, None for an orphan."""
    history = read_history(list(messages), accept_role_tool)
    places = [(at, place) for turn, at in enumerate(history.turns) for place in range(len(history.calls_of(turn)))]
    return [None if call == MISSING else places[call] for call in history.call_of_result]


def test_a_conversation_without_calls() -> None:
    history = read_history(
        [{"role": "system", "content": "s"}, USER, {"role": "assistant", "content": "hi"}, USER], True
    )
    assert [
        history.turns,
        history.results,
        history.empty_messages,
        history.developer_messages,
        history.tool_messages,
    ] == [[], [], [], [], []]


def test_what_a_history_contains() -> None:
    messages: list[JsonObject] = [
        {"role": "developer", "content": "d"},
        {"role": "assistant", "content": ""},
        assistant("a"),
        tool("a"),
        {"role": "system", "content": "", "tools": [{"type": "function"}, 5]},
        {"role": "system", "content": "", "tools": "none"},
    ]
    history: History = read_history(messages, True)
    assert (history.developer_messages, history.empty_messages, history.tool_messages) == ([0], [1], [4])
    assert (history.turns, history.results) == ([2], [3])
    assert (history.calls, history.original_ids, history.names, list(history.final_ids)) == (
        messages[2]["tool_calls"],
        ["a"],
        ["bash"],
        ["a"],
    )
    assert history.counts(0)


def test_a_result_belongs_to_the_nearest_message_with_its_id() -> None:
    assert pairs(assistant("a"), tool("a"), assistant("a", "b"), tool("a"), tool("b")) == [(0, 0), (2, 0), (2, 1)]
    assert pairs(assistant("a"), assistant("b"), tool("a"), tool("b")) == [(0, 0), (1, 0)]


def test_equal_ids_in_one_message_are_matched_in_order() -> None:
    assert pairs(assistant("c", "x", "c"), tool("c"), tool("x"), tool("c")) == [(0, 0), (0, 1), (0, 2)]


def test_a_second_result_belongs_to_the_call_but_does_not_count() -> None:
    history = read_history([assistant("c"), tool("c", "1"), tool("c", "2")], True)
    assert [history.counts(0), history.counts(1)] == [True, False]
    assert history.call_of_result == [0, 0]


def test_a_later_result_replaces_no_output() -> None:
    history = read_history([assistant("c"), tool("c", NO_OUTPUT), USER, tool("c", "late"), tool("c", "later")], True)
    assert [history.counts(result) for result in range(3)] == [False, True, False]


def test_results_with_unknown_ids_take_the_open_calls() -> None:
    assert pairs(assistant("a", "b"), tool("lost"), tool("a")) == [(0, 1), (0, 0)]
    assert pairs(assistant("a", "b"), tool(""), tool(None), tool(7)) == [(0, 0), (0, 1), None]
    assert pairs(assistant(None, ""), tool("x"), tool("y")) == [(0, 0), (0, 1)]
    assert pairs(assistant("a"), assistant("b"), tool("lost"), tool("lost")) == [(1, 0), None]


def test_a_result_before_its_call_is_an_orphan() -> None:
    assert pairs(tool("a"), assistant("a"), tool("a")) == [None, (1, 0)]
    assert pairs(tool("a")) == [None]


def test_an_id_that_is_no_string_counts_as_missing() -> None:
    odd: Any = 5
    history = read_history([assistant(odd)], True)
    assert history.original_ids == [""]


@pytest.mark.parametrize(
    ("message", "empty"),
    [
        ({"content": None}, True),
        ({"content": ""}, True),
        ({}, True),
        ({"content": []}, True),
        ({"content": [{"type": "text", "text": ""}]}, True),
        ({"content": "", "reasoning_content": "hm"}, True),
        ({"content": "", "tool_calls": []}, True),
        ({"content": " "}, False),
        ({"content": [{"type": "text", "text": "x"}]}, False),
        ({"content": [{"type": "image_url"}]}, False),
        ({"content": [5]}, False),
        ({"content": 0}, False),
        ({"content": "", "partial": True}, False),
        ({"content": None, "function_call": {"name": "a"}}, False),
    ],
)
def test_empty_means_neither_content_nor_calls(message: JsonObject, empty: bool) -> None:
    assert is_empty({"role": "assistant", **message}) is empty


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        (None, "messages"),
        ({}, "messages"),
        ("go", "messages"),
        ([USER, "go"], "messages[1]"),
        ([USER, None], "messages[1]"),
        ([{"role": "assistant", "tool_calls": {"a": 1}}], "messages[0].tool_calls"),
        ([{"role": "assistant", "tool_calls": [5]}], "messages[0].tool_calls[0]"),
        ([{"role": "assistant", "tool_calls": [{"function": []}]}], "messages[0].tool_calls[0].function"),
        ([{"role": "assistant", "tool_calls": [{"custom": "patch"}]}], "messages[0].tool_calls[0].custom"),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": 5}}]}], "messages[0].tool_calls[0].function.name"),
        ([{"role": "assistant", "tool_calls": [{"custom": {"name": []}}]}], "messages[0].tool_calls[0].custom.name"),
        ([USER, {"role": "tool", "content": "x"}], "messages[1].tool_call_id"),
        ([USER, {"role": "tool", "tool_call_id": "", "content": "x"}], "messages[1].tool_call_id"),
        ([USER, {"role": "tool", "tool_call_id": 5, "content": "x"}], "messages[1].tool_call_id"),
        ([USER, {"role": "tool", "tool_call_id": "a"}], "messages[1].content"),
        ([USER, {"role": "tool", "tool_call_id": "a", "content": None}], "messages[1].content"),
    ],
)
def test_malformed_messages_are_refused_with_their_path(messages: Any, path: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        read_history(messages, True)
    assert (refusal.value.status, refusal.value.path) == (400, path)


@pytest.mark.parametrize("content", ["", []])
def test_a_tool_result_may_be_empty(content: Any) -> None:
    assert len(read_history([assistant("a"), tool("a", content)], True).results) == 1


def test_tool_messages_are_not_checked_if_the_option_is_off() -> None:
    assert len(read_history([{"role": "tool"}], False).results) == 1


NAMELESS: list[JsonObject] = [
    {"id": "a"},
    {"id": "a", "function": None},
    {"id": "a", "function": {}},
    {"id": "a", "function": {"name": None}},
    {"id": "a", "function": {"name": "", "arguments": "{}"}},
    {"id": "a", "type": "custom", "custom": {"input": "x"}},
]


def turn(*calls: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


@pytest.mark.parametrize("nameless", NAMELESS)
def test_a_call_without_a_name_is_dropped_with_its_results(nameless: JsonObject) -> None:
    history = read_history([turn(nameless, *assistant("b")["tool_calls"]), tool("a"), tool("b")], True)
    assert (history.names, history.dropped, history.sends_calls) == (["", "bash"], {0}, True)
    assert [history.counts(0), history.counts(1)] == [False, True]
    assert not history.is_dropped(0)


def test_a_turn_without_any_named_call_is_dropped() -> None:
    history = read_history([turn(*NAMELESS)], True)
    assert history.is_dropped(0)
    assert not history.sends_calls


def test_with_section_3_off_nothing_is_dropped() -> None:
    history = read_history([turn(*NAMELESS), tool("a")], True, repairs_ids=False)
    assert not history.dropped
    assert history.sends_calls
    assert history.counts(0)


def test_a_result_with_an_unknown_id_never_belongs_to_a_dropped_call() -> None:
    nameless = {"id": "a", "function": {"name": ""}}
    assert pairs(turn(nameless, *assistant("b")["tool_calls"]), tool("x")) == [(0, 1)]
    assert pairs(assistant("b"), turn(nameless), tool("x")) == [(0, 0)]
    assert pairs(turn(nameless), tool("x")) == [None]


def test_with_section_3_off_no_result_is_matched_by_guess() -> None:
    def matched(*messages: JsonObject) -> list[int]:
        return read_history(list(messages), False, repairs_ids=False).call_of_result

    assert matched(assistant("a"), tool("x")) == [MISSING]
    assert matched(assistant("a"), tool("")) == [MISSING]
    assert matched(assistant(""), tool("")) == [MISSING]
    assert matched(assistant("a", "a"), tool("a"), tool("a"), tool("x")) == [0, 1, MISSING]
    assert matched(assistant("a"), assistant("b"), tool("a")) == [0]


def test_custom_calls_have_names() -> None:
    history = read_history([turn({"id": "c", "type": "custom", "custom": {"name": "patch", "input": "x"}})], True)
    assert history.names == ["patch"]
