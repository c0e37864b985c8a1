"""One choice of a streamed answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.kimi.answering import CALL, PARSING, SECTION, begin, call

from moongate.kimi.answer.streamed_choice import StreamedChoice

Row = dict[str, Any]


def choice_of(options: Row | None = None) -> StreamedChoice:
    return StreamedChoice(begin(options).answer, 0)


def choice_object(delta: Any, reason: Any = None, **more: Any) -> Row:
    return {"index": 0, "delta": delta, "finish_reason": reason, **more}


def kinds(choice: StreamedChoice) -> list[str]:
    return [note.kind for note in choice.answer.notes]


GOOD = {"index": 0, **call("functions.bash:0", "bash", "{}")}


@pytest.mark.parametrize("options", [None, PARSING, {"assembleToolDeltas": True}])
def test_what_breaks_no_rule_is_the_same_object(options: Row | None) -> None:
    choice = choice_of(options)
    for each in (
        choice_object({"role": "assistant", "content": ""}),
        choice_object({"content": "Hi", "x": 1}),
        choice_object({"reasoning_content": "r"}),
        choice_object({"refusal": "no"}),
        choice_object({"content": ["odd"], "tool_calls": {}}),
        choice_object(None),
        choice_object({}, "stop"),
    ):
        left = choice.feed(each)
        assert len(left) == 1
        assert left[0] is each
    assert choice.end() == []
    assert not choice.answer.notes


@pytest.mark.parametrize("options", [None, PARSING])
def test_content_in_parts_is_no_empty_turn(options: Row | None) -> None:
    choice = choice_of(options)
    for delta, reason in (({"content": [{"type": "text", "text": "Hi"}]}, None), ({}, "stop")):
        choice.feed(choice_object(delta, reason))
    assert choice.answer.judge.choices[0] == frozenset()
    assert kinds(choice) == []


def test_a_delta_that_only_waits_does_not_leave() -> None:
    choice = choice_of()
    nameless = {"index": 0, "function": {"arguments": "{"}}
    assert choice.feed(choice_object({"content": None, "tool_calls": [nameless]})) == []
    assert choice.feed(choice_object({"role": "assistant", "tool_calls": [nameless]})) == [
        choice_object({"role": "assistant"})
    ]
    assert choice.feed(choice_object({"tool_calls": [nameless]}, x_vendor=1)) == [choice_object({}, x_vendor=1)]


@pytest.mark.parametrize("options", [None, PARSING])
def test_a_call_that_waits_for_more_of_its_name_leaves_before_text(options: Row | None) -> None:
    choice = choice_of(options)
    entry = {"index": 0, "id": "functions.ba:0", "type": "function", "function": {"name": "ba", "arguments": ""}}
    assert choice.feed(choice_object({"tool_calls": [entry]})) == []
    assert choice.feed(choice_object({"content": ""})) == [choice_object({"content": ""})]
    assert choice.feed(choice_object({"content": "a"})) == [
        choice_object({"tool_calls": [entry]}),
        choice_object({"content": "a"}),
    ]


def test_a_call_whose_name_does_not_go_on_leaves_as_it_came() -> None:
    entry = {"index": 0, "id": "functions.ba:0", "type": "function", "function": {"name": "ba", "arguments": ""}}
    begun = choice_object({"role": "assistant", "content": None, "tool_calls": [entry]})
    for following in (
        choice_object({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}),
        choice_object({"content": "a"}),
    ):
        choice = choice_of()
        assert choice.feed(begun) == []
        assert choice.waits_for_name
        left = choice.feed(following)
        assert left[0] is begun
        assert left[1] is following
        assert not choice.waits_for_name
    choice = choice_of()
    choice.feed(begun)
    other = {"index": 1, "id": "functions.bash:1", "type": "function", "function": {"name": "bash", "arguments": "{"}}
    assert [each["delta"]["tool_calls"][0]["id"] for each in choice.feed(choice_object({"tool_calls": [other]}))] == [
        "functions.ba:0",
        "functions.bash:1",
    ]


def test_a_call_whose_name_goes_on_waits_for_it() -> None:
    entry = {"index": 0, "id": "functions.bash:0", "type": "function", "function": {"name": "ba", "arguments": ""}}
    choice = choice_of()
    assert choice.feed(choice_object({"tool_calls": [entry]})) == []
    (left,) = choice.feed(choice_object({"tool_calls": [{"index": 0, "function": {"name": "sh"}}]}))
    assert left["delta"]["tool_calls"][0]["function"] == {"name": "bash", "arguments": ""}
    choice = choice_of()
    pieces = [choice_object({"tool_calls": [each]}) for each in (entry, {"index": 0, "function": {"name": "s"}})]
    assert [choice.feed(each) for each in pieces] == [[], []]
    called, text = choice.feed(choice_object({"content": "a"}))
    assert called["delta"]["tool_calls"][0]["function"] == {"name": "bas", "arguments": ""}
    assert text["delta"] == {"content": "a"}


def test_a_call_that_waits_for_more_of_its_name_leaves_at_the_end() -> None:
    entry = {"index": 0, "id": "functions.ba:0", "type": "function", "function": {"name": "ba", "arguments": ""}}
    begun = choice_object({"tool_calls": [entry]})
    choice = choice_of()
    choice.feed(begun)
    left = choice.end()
    assert left[0] is begun
    assert left[-1]["finish_reason"] == "tool_calls"
    choice = choice_of()
    choice.feed(begun)
    assert choice.broken() == [begun]
    choice = choice_of()
    choice.feed(begun)
    assert choice.feed(choice_object({}, "stop"))[0] is begun
    choice = choice_of()
    left = choice.feed({**begun, "finish_reason": "tool_calls"})
    assert left[0]["delta"]["tool_calls"][0] == entry
    assert choice.feed(begun)[0] is not begun, "nothing waits behind the finish"


def test_markers_become_deltas_and_the_rest_of_the_delta_goes_with_the_first() -> None:
    choice = choice_of(PARSING)
    text = "Hm. " + SECTION.format(CALL.format("functions.bash:0", "{}"))
    left = choice.feed(
        choice_object({"role": "assistant", "content": text, "reasoning": None}, logprobs={"content": []})
    )
    function = {"name": "bash", "arguments": ""}
    assert left == [
        choice_object({"role": "assistant", "reasoning": None, "content": "Hm. "}, logprobs={"content": []}),
        choice_object(
            {"tool_calls": [{"index": 0, "id": "functions.bash:0", "type": "function", "function": function}]}
        ),
        choice_object({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
    ]
    assert choice.feed(choice_object({}, "stop")) == [choice_object({}, "tool_calls")]


def test_native_calls_beside_markers_in_one_delta_come_first() -> None:
    choice = choice_of(PARSING)
    left = choice.feed(choice_object({"tool_calls": [GOOD], "content": CALL.format("functions.read:1", "{}")}))
    entries = [entry for each in left for entry in each["delta"]["tool_calls"]]
    assert [entry.get("id") for entry in entries] == ["functions.bash:0", "functions.read:1", None]


def test_reasoning_leaves_under_the_names_it_came_with() -> None:
    marked = "r" + CALL.format("functions.bash:0", "{}")
    for fields in (("reasoning",), ("reasoning_content",), ("reasoning_content", "reasoning")):
        left = choice_of(PARSING).feed(choice_object(dict.fromkeys(fields, marked)))
        assert left[0]["delta"] == dict.fromkeys(fields, "r")
    # Two texts under two names are two texts: only the first is read.
    left = choice_of(PARSING).feed(choice_object({"reasoning_content": marked, "reasoning": "other"}))
    assert left[0]["delta"] == {"reasoning": "other", "reasoning_content": "r"}


def test_held_text_leaves_with_the_finish() -> None:
    choice = choice_of(PARSING)
    assert choice.feed(choice_object({"content": "<"})) == []
    assert choice.feed(choice_object({}, "stop", stop_reason=1)) == [
        choice_object({"content": "<"}),
        choice_object({}, "stop", stop_reason=1),
    ]


def test_a_finish_on_a_chunk_with_a_delta_stands_behind_it() -> None:
    choice = choice_of(PARSING)
    left = choice.feed(choice_object({"content": "a<"}, "stop", logprobs={"content": [1]}))
    assert left == [
        choice_object({"content": "a"}, logprobs={"content": [1]}),
        choice_object({"content": "<"}),
        choice_object({}, "stop", logprobs=None),
    ]
    choice = choice_of()
    left = choice.feed(choice_object({"tool_calls": [{"index": 0, "function": {"name": "bash"}}]}, "stop"))
    assert [each["finish_reason"] for each in left] == [None, None, "tool_calls"]
    left = choice_of().feed(choice_object({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}, "tool_calls"))
    assert left == [choice_object({}, "stop")]
    left = choice_of().feed(choice_object({"content": "a", "tool_calls": [{**GOOD, "id": "x"}]}, "stop"))
    assert left == [choice_object({"content": "a", "tool_calls": [GOOD]}, "tool_calls")]
    left = choice_of(PARSING).feed(choice_object({"content": "<|tool_calls_section_begin|>"}, "stop"))
    assert left == [choice_object({}, "stop")]


def test_calls_without_arguments_get_them_before_the_finish() -> None:
    choice = choice_of()
    choice.feed(choice_object({"tool_calls": [{"index": 0, **call("functions.bash:0", "bash", "")}]}))
    assert choice.feed(choice_object({}, "stop")) == [
        choice_object({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        choice_object({}, "tool_calls"),
    ]


@pytest.mark.parametrize("reason", ["", 7, ["stop"]])
def test_a_finish_reason_that_is_none_becomes_null(reason: Any) -> None:
    choice = choice_of()
    assert choice.feed(choice_object({"content": "a"}, reason)) == [choice_object({"content": "a"})]
    assert kinds(choice) == ["finish_reason"]
    assert not choice.finished
    each = choice_object({"content": "a"}, reason)
    assert choice_of({"enforceFinishReasonLoop": False}).feed(each)[0] is each
    held = choice_of({"enforceFinishReasonLoop": False, **PARSING}).feed(choice_object({"content": "<"}, reason))
    assert held == [choice_object({}, reason)]


def test_a_second_finish_reason_becomes_null() -> None:
    choice = choice_of()
    choice.feed(choice_object({"content": "a"}, "stop"))
    assert choice.feed(choice_object({}, "stop")) == [choice_object({})]
    assert choice.feed(choice_object({"tool_calls": [{"index": 0, "function": {}}]}, "stop")) == [choice_object({})]


def test_text_behind_the_finish_passes() -> None:
    choice = choice_of(PARSING)
    choice.feed(choice_object({}, "stop"))
    each = choice_object({"content": "<"})
    assert choice.feed(each)[0] is each


def test_done_gives_a_finish_reason_that_never_came() -> None:
    choice = choice_of()
    choice.feed(choice_object({"content": "a"}))
    assert choice.end() == [choice_object({}, "stop")]
    assert choice.end() == []
    assert kinds(choice) == ["finish_reason"]
    choice = choice_of(PARSING)
    choice.feed(choice_object({"content": CALL.format("functions.bash:0", '{"a')[:-17]}))
    assert [each["finish_reason"] for each in choice.end()] == ["length"]
    choice = choice_of({"enforceFinishReasonLoop": False, **PARSING})
    choice.feed(choice_object({"content": "<"}))
    assert choice.end() == [choice_object({"content": "<"})]


@pytest.mark.parametrize(
    ("options", "delta", "reason"),
    [
        (PARSING, {"tool_calls": [GOOD]}, "tool_calls"),
        (PARSING, {"content": CALL.format("functions.bash:0", "{}")}, "tool_calls"),
        (PARSING, {"content": CALL.format("functions.bash:0", '{"a')[:-17]}, "length"),
        ({"assembleToolDeltas": True, "enforceFinishReasonLoop": False}, {"tool_calls": [GOOD]}, "tool_calls"),
    ],
)
def test_a_finish_reason_that_never_came_is_noted_once(options: Row, delta: Row, reason: str) -> None:
    choice = choice_of(options)
    choice.feed(choice_object(delta))
    assert choice.end()[-1]["finish_reason"] == reason
    noted = [(note.before, note.after) for note in choice.answer.notes if note.kind == "finish_reason"]
    assert noted == [(None, reason)]


def test_a_broken_stream_gives_what_waits_and_no_finish_reason() -> None:
    choice = choice_of(PARSING)
    choice.feed(choice_object({"content": "a<"}))
    assert choice.broken() == [choice_object({"content": "<"})]
    assert choice.broken() == []
    assert choice_of().broken() == []


def test_the_summary_stands_in_for_the_finish_chunk() -> None:
    choice = choice_of({"assembleToolDeltas": True})
    choice.feed(choice_object({"content": "Let me."}))
    left = choice.feed(choice_object({"tool_calls": [{**GOOD, "id": "x"}]}, "stop"))
    message = {"role": "assistant", "content": "Let me.", "tool_calls": [call("functions.bash:0", "bash", "{}")]}
    assert left == [choice_object({"tool_calls": [GOOD]}), {**choice_object({}, "tool_calls"), "message": message}]
    choice = choice_of({"assembleToolDeltas": True, "enforceFinishReasonLoop": False})
    choice.feed(choice_object({"tool_calls": [GOOD]}))
    (last,) = choice.end()
    assert last["finish_reason"] == "tool_calls"
    assert last["message"]["tool_calls"] == [call("functions.bash:0", "bash", "{}")]


def test_what_else_is_in_a_delta_leaves_before_calls_and_where_its_text_is_held_back() -> None:
    marked = CALL.format("functions.bash:0", "{}")
    lead, *calls = choice_of(PARSING).feed(choice_object({"role": "assistant", "content": marked}))
    assert lead == choice_object({"role": "assistant"})
    assert [list(each["delta"]) for each in calls] == [["tool_calls"]] * 2
    assert choice_of(PARSING).feed(choice_object({"role": "assistant", "content": "<"})) == [lead]


def test_text_that_was_held_back_leaves_before_a_native_call() -> None:
    choice = choice_of(PARSING)
    choice.feed(choice_object({"content": "<"}))
    assert choice.feed(choice_object({"role": "assistant", "tool_calls": [GOOD]})) == [
        choice_object({"role": "assistant", "content": "<"}),
        choice_object({"tool_calls": [GOOD]}),
    ]
    choice = choice_of(PARSING)
    choice.feed(choice_object({"content": "<"}))
    nameless = {"index": 0, "function": {"arguments": "{"}}
    assert choice.feed(choice_object({"tool_calls": [nameless]})) == [choice_object({"content": "<"})]


@pytest.mark.parametrize("delta", [{"tool_calls": [GOOD]}, {"content": "a", "tool_calls": [GOOD]}])
def test_a_native_call_that_breaks_no_rule_is_the_same_object_beside_a_parser(delta: Row) -> None:
    each = choice_object(delta)
    (left,) = choice_of(PARSING).feed(each)
    assert left is each


def test_what_else_is_in_a_delta_with_both_kinds_of_calls_leaves_first() -> None:
    marked = CALL.format("functions.read:1", "{}")
    left = choice_of(PARSING).feed(choice_object({"role": "assistant", "tool_calls": [GOOD], "content": marked}))
    assert left[:2] == [choice_object({"role": "assistant"}), choice_object({"tool_calls": [GOOD]})]


def markup(text: str) -> Row:
    return choice_object({"content": text})


def native(arguments: str, **more: Any) -> Row:
    return choice_object({"tool_calls": [{"index": 0, "function": {"arguments": arguments}, **more}]})


def sent_calls(objects: list[Row]) -> dict[int, list[str]]:
    """The arguments of each call, as they left."""
    sent: dict[int, list[str]] = {}
    for entry in (entry for each in objects for entry in each["delta"].get("tool_calls") or ()):
        sent.setdefault(entry["index"], []).append(entry["function"]["arguments"])
    return sent


BEGIN = "<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>"
END = "<|tool_call_end|>"
NATIVE_BEGIN = choice_object({"tool_calls": [{"index": 0, **call("functions.bash:0", "bash", "")}]})


@pytest.mark.parametrize(
    "order",
    [
        ["native begins", "native", "markers begin", "native ends", "markers end"],
        ["native begins", "native", "markers begin", "markers end", "native ends"],
        ["markers begin", "native begins", "native", "native ends", "markers end"],
        ["markers begin", "native begins", "native", "markers end", "native ends"],
        ["markers begin", "native begins", "native", "native ends", "other native", "markers end"],
    ],
)
def test_twins_that_come_at_the_same_time_are_one_call(order: list[str]) -> None:
    """Section 5.7: whichever came first, also where neither is complete when the other one begins."""
    events = {
        "native begins": NATIVE_BEGIN,
        "native": native('{"command"'),
        "native ends": native(':"ls"}'),
        "markers begin": markup(BEGIN + '{"command": '),
        "markers end": markup('"ls"}' + END),
        "other native": choice_object({"tool_calls": [{"index": 1, **call("functions.read:1", "read", "{}")}]}),
    }
    choice = choice_of(PARSING)
    left = [each for name in order for each in choice.feed(events[name])]
    left += choice.feed(choice_object({}, "tool_calls"))
    calls = {at: "".join(parts) for at, parts in sent_calls(left).items()}
    others = ["{}"] if "other native" in order else []
    assert [json.loads(each) for each in calls.values()] == [{"command": "ls"}, *map(json.loads, others)]
    assert list(calls) == list(range(len(calls)))
    assert choice.answer.judge.choices[0] == frozenset()


def test_a_call_that_only_seemed_to_come_twice_leaves_behind_those_before_it() -> None:
    choice = choice_of(PARSING)
    fed = [NATIVE_BEGIN, native('{"command"'), markup(BEGIN + '{"command": "pwd"}' + END)]
    fed += [markup("<|tool_call_begin|>functions.read:1<|tool_call_argument_begin|>{}" + END), native(':"ls"}')]
    left = [each for event in fed for each in choice.feed(event)]
    assert sent_calls(left) == {0: ["", '{"command"', ':"ls"}']}
    assert sent_calls(choice.feed(choice_object({}, "stop"))) == {1: ["", '{"command": "pwd"}'], 2: ["", "{}"]}


def test_a_call_that_is_complete_is_compared_at_once() -> None:
    choice = choice_of(PARSING)
    left = [each for event in [NATIVE_BEGIN, native("{}")] for each in choice.feed(event)]
    for _ in range(20):
        left += choice.feed(markup(BEGIN + '{"command": "pwd"}' + END))
    assert len(sent_calls(left)) == 21
