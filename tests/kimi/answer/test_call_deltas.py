"""Deltas of calls, and whether one may bring only a piece of a name."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import REQUEST, begin, tool
from tests.kimi.call_entries import Row, delta

from moongate.kimi.answer.call_deltas import arguments_delta, begin_delta, begins_name, delta_of, goes_on
from moongate.kimi.answer.context import AnswerContext


def answer_of(options: Row | None = None) -> AnswerContext:
    return begin(options, {**REQUEST, "tools": [*REQUEST["tools"], tool("read_file", "path")]}).answer


def test_the_deltas_of_a_call() -> None:
    begun, more = begin_delta(2, "functions.bash:2", "bash"), arguments_delta(2, "{}")
    function = {"name": "bash", "arguments": ""}
    assert begun == {"tool_calls": [{"index": 2, "id": "functions.bash:2", "type": "function", "function": function}]}
    assert more == {"tool_calls": [{"index": 2, "function": {"arguments": "{}"}}]}


def test_a_choice_without_a_delta() -> None:
    assert delta_of({"delta": {"content": "a"}}) == {"content": "a"}
    assert delta_of({"delta": None}) == {}


@pytest.mark.parametrize(
    ("entries", "may"),
    [
        ([delta(0, "x", "read", "")], True),
        ([delta(0, "x", "func", "")], True),
        ([delta(0, "x", "unheard")], True),
        ([{"index": 0, "custom": {"name": "read", "input": ""}}], True),
        ([delta(0, "x", "unheard", "")], False),
        ([delta(0, "x", "bash")], False),
        ([delta(0, "x", "read", "{")], False),
        ([delta(0, "x", None, "")], False),
        ([delta(0, "x", "read"), delta(1, "y", "read")], False),
        (["odd"], False),
        (None, False),
    ],
)
def test_a_name_may_go_on_until_arguments_come(entries: Any, may: bool) -> None:
    assert begins_name(answer_of(), {"tool_calls": entries}) is may
    assert not begins_name(answer_of({"repairOnMismatch": False}), {"tool_calls": entries})


@pytest.mark.parametrize(
    ("entry", "goes"),
    [
        (delta(0, None, "_file"), True),
        (delta(0, "x", "_file"), True),
        ({"function": {"name": "_file"}}, True),
        (delta(0, None, None, "{"), False),
        (delta(0, "y", "_file"), False),
        (delta(1, None, "_file"), False),
        ("odd", False),
    ],
)
def test_the_same_call_goes_on_with_its_name(entry: Any, goes: bool) -> None:
    assert goes_on({"tool_calls": [delta(0, "x", "read")]}, {"tool_calls": [entry]}) is goes
    assert not goes_on({"tool_calls": [delta(0, "x", "read")]}, {"content": "a"})
