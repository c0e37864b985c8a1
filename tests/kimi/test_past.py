from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.past import NO_OUTPUT, NONE, Past, is_hollow, read_past
from moongate.payload import JsonObject


def assistant(*ids: str | None) -> JsonObject:
    calls = [{"id": each, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for each in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(tool_call_id: Any, content: Any = "ok") -> JsonObject:
    return {"role": "tool", "tool_call_id": tool_call_id, "content": content}


USER: JsonObject = {"role": "user", "content": "go"}


def pairs(*messages: JsonObject, accept_role_tool: bool = False) -> list[tuple[int, int] | None]:
    """For each result the place of its message and of its call in it, None for an orphan."""
    past = read_past(list(messages), accept_role_tool)
    places = [(at, place) for turn, at in enumerate(past.turns) for place in range(len(past.calls_of(turn)))]
    return [None if call == NONE else places[call] for call in past.of_results]


def test_a_plain_conversation_holds_nothing_of_interest() -> None:
    past = read_past([{"role": "system", "content": "s"}, USER, {"role": "assistant", "content": "hi"}, USER], True)
    assert [past.turns, past.results, past.hollow, past.developers, past.tools] == [[], [], [], [], []]


def test_what_is_found() -> None:
    messages: list[JsonObject] = [
        {"role": "developer", "content": "d"},
        {"role": "assistant", "content": ""},
        assistant("a"),
        tool("a"),
        {"role": "system", "content": "", "tools": [{"type": "function"}, 5]},
        {"role": "system", "content": "", "tools": "none"},
    ]
    past: Past = read_past(messages, True)
    assert (past.developers, past.hollow, past.tools) == ([0], [1], [{"type": "function"}, 5])
    assert (past.turns, past.results) == ([2], [3])
    assert (past.calls, past.given, past.names, list(past.finals)) == (
        messages[2]["tool_calls"],
        ["a"],
        ["bash"],
        ["a"],
    )
    assert past.counts(0)


def test_a_result_belongs_to_the_nearest_message_with_its_id() -> None:
    assert pairs(assistant("a"), tool("a"), assistant("a", "b"), tool("a"), tool("b")) == [(0, 0), (2, 0), (2, 1)]
    assert pairs(assistant("a"), assistant("b"), tool("a"), tool("b")) == [(0, 0), (1, 0)]


def test_equal_ids_in_one_message_pair_in_order() -> None:
    assert pairs(assistant("c", "x", "c"), tool("c"), tool("x"), tool("c")) == [(0, 0), (0, 1), (0, 2)]


def test_a_second_result_belongs_to_the_call_but_does_not_count() -> None:
    past = read_past([assistant("c"), tool("c", "1"), tool("c", "2")], True)
    assert [past.counts(0), past.counts(1)] == [True, False]
    assert past.of_results == [0, 0]


def test_a_late_result_takes_the_place_of_no_output() -> None:
    past = read_past([assistant("c"), tool("c", NO_OUTPUT), USER, tool("c", "late"), tool("c", "later")], True)
    assert [past.counts(result) for result in range(3)] == [False, True, False]


def test_unknown_and_empty_ids_take_what_is_open_after_the_known_ones() -> None:
    assert pairs(assistant("a", "b"), tool("lost"), tool("a")) == [(0, 1), (0, 0)]
    assert pairs(assistant("a", "b"), tool(""), tool(None), tool(7)) == [(0, 0), (0, 1), None]
    assert pairs(assistant(None, ""), tool("x"), tool("y")) == [(0, 0), (0, 1)]
    assert pairs(assistant("a"), assistant("b"), tool("lost"), tool("lost")) == [(1, 0), None]


def test_a_result_before_its_call_is_an_orphan() -> None:
    assert pairs(tool("a"), assistant("a"), tool("a")) == [None, (1, 0)]
    assert pairs(tool("a")) == [None]


def test_an_id_that_is_no_text_counts_as_none() -> None:
    odd: Any = 5
    past = read_past([assistant(odd)], True)
    assert past.given == [""]


@pytest.mark.parametrize(
    ("message", "hollow"),
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
def test_hollow_means_neither_content_nor_calls(message: JsonObject, hollow: bool) -> None:
    assert is_hollow({"role": "assistant", **message}) is hollow


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
        ([{"role": "assistant", "tool_calls": [{"id": "a"}]}], "messages[0].tool_calls[0].function"),
        ([{"role": "assistant", "tool_calls": [{"function": []}]}], "messages[0].tool_calls[0].function"),
        ([{"role": "assistant", "tool_calls": [{"function": {}}]}], "messages[0].tool_calls[0].function.name"),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": 5}}]}], "messages[0].tool_calls[0].function.name"),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": ""}}]}],
            "messages[0].tool_calls[0].function.name",
        ),
        ([USER, {"role": "tool", "content": "x"}], "messages[1].tool_call_id"),
        ([USER, {"role": "tool", "tool_call_id": "", "content": "x"}], "messages[1].tool_call_id"),
        ([USER, {"role": "tool", "tool_call_id": 5, "content": "x"}], "messages[1].tool_call_id"),
        ([USER, {"role": "tool", "tool_call_id": "a"}], "messages[1].content"),
        ([USER, {"role": "tool", "tool_call_id": "a", "content": None}], "messages[1].content"),
    ],
)
def test_what_no_rule_can_work_with_is_refused_with_its_path(messages: Any, path: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        read_past(messages, True)
    assert (refusal.value.status, refusal.value.path) == (400, path)


@pytest.mark.parametrize("content", ["", []])
def test_a_tool_may_say_nothing(content: Any) -> None:
    assert len(read_past([assistant("a"), tool("a", content)], True).results) == 1


def test_tool_messages_are_not_judged_if_the_option_is_off() -> None:
    assert len(read_past([{"role": "tool"}], False).results) == 1
