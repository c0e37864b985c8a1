"""Chunks put together."""

from __future__ import annotations

import copy
from typing import Any

from moongate.chat.accumulate import Accumulator, joined

Row = dict[str, Any]


def completion(*payloads: Row) -> Row:
    accumulator = Accumulator()
    before = copy.deepcopy(payloads)
    for payload in payloads:
        accumulator.feed(payload)
    whole = accumulator.completion()
    assert payloads == before, "the provider's objects were changed"
    return whole


def chunk(delta: Any, reason: str | None = None, index: int = 0, **more: Any) -> Row:
    return {"id": "c", "model": "m", "choices": [{"index": index, "delta": delta, "finish_reason": reason, **more}]}


def test_texts_are_added_up_and_calls_go_by_index() -> None:
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}, "extra": 1}
    whole = completion(
        chunk({"role": "assistant", "content": "Hi", "reasoning_content": "r"}),
        chunk({"content": " there", "refusal": ""}),
        chunk({"tool_calls": [call]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}", "strict": True}}, None]}),
        chunk({}, "tool_calls"),
        {"choices": [], "usage": {"total_tokens": 3}},
    )
    function = {"strict": True, "name": "f", "arguments": "{}"}
    message = {
        "role": "assistant",
        "content": "Hi there",
        "reasoning_content": "r",
        "tool_calls": [{"id": "a", "type": "function", "extra": 1, "function": function}],
    }
    assert whole == {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"total_tokens": 3},
    }


def test_choices_stand_in_order_of_their_index() -> None:
    whole = completion(chunk({"content": "b"}, index=1), chunk({"content": "a"}, index=0), chunk({}, "stop", index=1))
    assert [(each["index"], each["message"]["content"]) for each in whole["choices"]] == [(0, "a"), (1, "b")]
    assert [each["finish_reason"] for each in whole["choices"]] == [None, "stop"]


def test_what_is_not_known_travels() -> None:
    whole = completion(
        {**chunk({"x": {"a": [1]}}, logprobs={"content": [1], "n": 1}), "x_top": "first"},
        {**chunk({"x": {"a": [2], "b": 3}}, logprobs={"content": [2], "n": 2}), "x_top": "last", "choices_x": None},
    )
    assert whole["x_top"] == "last"
    assert whole["choices"][0]["logprobs"] == {"content": [1, 2], "n": 2}
    assert whole["choices"][0]["message"]["x"] == {"a": [1, 2], "b": 3}


def test_the_first_finish_reason_counts() -> None:
    assert completion(chunk({}, "stop"), chunk({}, "length"))["choices"][0]["finish_reason"] == "stop"


def test_odd_shapes_are_passed_over() -> None:
    whole = completion({"choices": None}, {"choices": [None, 1]}, chunk(None), chunk({"tool_calls": {}, "content": []}))
    assert whole["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": None},
    ]
    calls = completion(chunk({"tool_calls": [{"index": 0, "function": None}]}))["choices"][0]["message"]["tool_calls"]
    assert calls == [{"id": "", "type": "function", "function": {"name": "", "arguments": ""}}]


def test_an_id_behind_the_name_may_count_or_not() -> None:
    def entry(**members: Any) -> Row:
        return chunk({"tool_calls": [{"index": 0, **members}]})

    behind = [entry(function={"name": "f"}), entry(id="a")]
    before = [entry(id="a"), entry(function={"name": "f"}), entry(id="a")]
    for payloads, late_ids, expected in ((behind, True, "a"), (behind, False, ""), (before, False, "a")):
        accumulator = Accumulator(late_ids=late_ids)
        for payload in payloads:
            accumulator.feed(payload)
        assert accumulator.completion()["choices"][0]["message"]["tool_calls"][0]["id"] == expected


def test_halves_of_a_character_are_joined() -> None:
    assert joined(["a\ud83d", "\ude00b"]) == "a😀b"
    assert joined(["\ude00", "\ud83d"]) == "\ude00\ud83d"
    assert joined(["é"]) == "é"


def test_what_is_nested_deeper_than_python_can_follow_is_merged() -> None:
    deep: Row = {"last": [1]}
    for _ in range(30_000):
        deep = {"inner": deep}
    accumulator = Accumulator()
    accumulator.feed({"extra": deep})
    accumulator.feed({"extra": deep})
    found = accumulator.completion()["extra"]
    while "inner" in found:
        found, deep = found["inner"], deep["inner"]
    assert (found, deep) == ({"last": [1, 1]}, {"last": [1]})


def test_custom_calls_keep_their_shape() -> None:
    accumulator = Accumulator()
    for custom in ({"name": "patch", "input": "*** "}, {"input": "Begin"}):
        entry = {"index": 0, "id": "c", "type": "custom", "custom": custom}
        accumulator.feed({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]})
    (call,) = accumulator.completion()["choices"][0]["message"]["tool_calls"]
    assert call == {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}


def test_a_second_name_before_arguments_is_reported() -> None:
    accumulator = Accumulator()
    for name in ("get_", "get_"):
        accumulator.feed({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": name}}]}}]})
    assert not accumulator.has_pieced_names
    accumulator.feed({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "news"}}]}}]})
    assert accumulator.has_pieced_names


def test_an_empty_type_behind_the_first_one_does_not_count() -> None:
    first = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
    later = {"index": 0, "id": "", "type": "", "function": {"name": "", "arguments": "}"}}
    (call,) = completion(chunk({"tool_calls": [first]}), chunk({"tool_calls": [later]}))["choices"][0]["message"][
        "tool_calls"
    ]
    assert call == {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
