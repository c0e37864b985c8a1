"""One choice of a streamed answer."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import CALL, PARSING, SECTION, begin, call

from moongate.kimi.call import ToldCalls
from moongate.kimi.pieces import Text
from moongate.kimi.stream import StreamedChoice

Row = dict[str, Any]


def choice_of(options: Row | None = None) -> StreamedChoice:
    return StreamedChoice(begin(options)._answer, 0)


def said(delta: Any, reason: Any = None, **more: Any) -> Row:
    return {"index": 0, "delta": delta, "finish_reason": reason, **more}


def kinds(choice: StreamedChoice) -> list[str]:
    return [note.kind for note in choice.answer.notes]


GOOD = {"index": 0, **call("functions.bash:0", "bash", "{}")}


@pytest.mark.parametrize("options", [None, PARSING, {"assembleToolDeltas": True}])
def test_what_breaks_no_rule_is_the_same_object(options: Row | None) -> None:
    choice = choice_of(options)
    for each in (
        said({"role": "assistant", "content": ""}),
        said({"content": "Hi", "x": 1}),
        said({"reasoning_content": "r"}),
        said({"refusal": "no"}),
        said({"content": ["odd"], "tool_calls": {}}),
        said(None),
        said({}, "stop"),
    ):
        left = choice.feed(each)
        assert len(left) == 1
        assert left[0] is each
    assert choice.end() == []
    assert not choice.answer.notes


def test_a_delta_that_only_waits_does_not_leave() -> None:
    choice = choice_of()
    nameless = {"index": 0, "function": {"arguments": "{"}}
    assert choice.feed(said({"content": None, "tool_calls": [nameless]})) == []
    assert choice.feed(said({"role": "assistant", "tool_calls": [nameless]})) == [said({"role": "assistant"})]
    assert choice.feed(said({"tool_calls": [nameless]}, x_vendor=1)) == [said({}, x_vendor=1)]


def test_markers_become_deltas_and_the_rest_of_the_delta_goes_with_the_first() -> None:
    choice = choice_of(PARSING)
    text = "Hm. " + SECTION.format(CALL.format("functions.bash:0", "{}"))
    left = choice.feed(said({"role": "assistant", "content": text, "reasoning": None}, logprobs={"content": []}))
    function = {"name": "bash", "arguments": ""}
    assert left == [
        said({"role": "assistant", "reasoning": None, "content": "Hm. "}, logprobs={"content": []}),
        said({"tool_calls": [{"index": 0, "id": "functions.bash:0", "type": "function", "function": function}]}),
        said({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
    ]
    assert choice.feed(said({}, "stop")) == [said({}, "tool_calls")]


def test_native_calls_beside_markers_in_one_delta_come_first() -> None:
    choice = choice_of(PARSING)
    left = choice.feed(said({"tool_calls": [GOOD], "content": CALL.format("functions.read:1", "{}")}))
    entries = [entry for each in left for entry in each["delta"]["tool_calls"]]
    assert [entry.get("id") for entry in entries] == ["functions.bash:0", "functions.read:1", None]


def test_reasoning_leaves_under_the_names_it_came_with() -> None:
    marked = "r" + CALL.format("functions.bash:0", "{}")
    for fields in (("reasoning",), ("reasoning_content",), ("reasoning_content", "reasoning")):
        left = choice_of(PARSING).feed(said(dict.fromkeys(fields, marked)))
        assert left[0]["delta"] == dict.fromkeys(fields, "r")
    # Two texts under two names are two texts: only the first is read.
    left = choice_of(PARSING).feed(said({"reasoning_content": marked, "reasoning": "other"}))
    assert left[0]["delta"] == {"reasoning": "other", "reasoning_content": "r"}


def test_held_text_leaves_with_the_finish() -> None:
    choice = choice_of(PARSING)
    assert choice.feed(said({"content": "<"})) == []
    assert choice.feed(said({}, "stop", stop_reason=1)) == [said({"content": "<"}), said({}, "stop", stop_reason=1)]


def test_a_finish_on_a_chunk_with_a_delta_stands_behind_it() -> None:
    choice = choice_of(PARSING)
    left = choice.feed(said({"content": "a<"}, "stop", logprobs={"content": [1]}))
    assert left == [
        said({"content": "a"}, logprobs={"content": [1]}),
        said({"content": "<"}),
        said({}, "stop", logprobs=None),
    ]
    choice = choice_of()
    left = choice.feed(said({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}, "stop"))
    assert [each["finish_reason"] for each in left] == [None, "tool_calls"]
    left = choice_of().feed(said({"content": "a", "tool_calls": [{**GOOD, "id": "x"}]}, "stop"))
    assert left == [said({"content": "a", "tool_calls": [GOOD]}, "tool_calls")]
    left = choice_of(PARSING).feed(said({"content": "<|tool_calls_section_begin|>"}, "stop"))
    assert left == [said({}, "stop")]


def test_calls_without_arguments_get_them_before_the_finish() -> None:
    choice = choice_of()
    choice.feed(said({"tool_calls": [{"index": 0, **call("functions.bash:0", "bash", "")}]}))
    assert choice.feed(said({}, "stop")) == [
        said({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        said({}, "tool_calls"),
    ]


@pytest.mark.parametrize("reason", ["", 7, ["stop"]])
def test_a_finish_reason_that_is_none_becomes_null(reason: Any) -> None:
    choice = choice_of()
    assert choice.feed(said({"content": "a"}, reason)) == [said({"content": "a"})]
    assert kinds(choice) == ["finish_reason"]
    assert not choice.finished
    each = said({"content": "a"}, reason)
    assert choice_of({"enforceFinishReasonLoop": False}).feed(each)[0] is each
    held = choice_of({"enforceFinishReasonLoop": False, **PARSING}).feed(said({"content": "<"}, reason))
    assert held == [said({}, reason)]


def test_a_second_finish_reason_becomes_null() -> None:
    choice = choice_of()
    choice.feed(said({"content": "a"}, "stop"))
    assert choice.feed(said({}, "stop")) == [said({})]
    assert choice.feed(said({"tool_calls": [{"index": 0, "function": {}}]}, "stop")) == [said({})]


def test_text_behind_the_finish_passes() -> None:
    choice = choice_of(PARSING)
    choice.feed(said({}, "stop"))
    each = said({"content": "<"})
    assert choice.feed(each)[0] is each
    assert choice.say("content", "<") is None
    assert choice.plain("content", b"a")


def test_done_gives_a_finish_reason_that_never_came() -> None:
    choice = choice_of()
    choice.feed(said({"content": "a"}))
    assert choice.end() == [said({}, "stop")]
    assert choice.end() == []
    assert kinds(choice) == ["finish_reason"]
    choice = choice_of(PARSING)
    choice.feed(said({"content": CALL.format("functions.bash:0", '{"a')[:-17]}))
    assert [each["finish_reason"] for each in choice.end()] == ["length"]
    choice = choice_of({"enforceFinishReasonLoop": False, **PARSING})
    choice.feed(said({"content": "<"}))
    assert choice.end() == [said({"content": "<"})]


def test_a_broken_stream_gives_what_waits_and_no_finish_reason() -> None:
    choice = choice_of(PARSING)
    choice.feed(said({"content": "a<"}))
    assert choice.broken() == [said({"content": "<"})]
    assert choice.broken() == []
    assert choice_of().broken() == []


def test_the_summary_stands_in_for_the_finish_chunk() -> None:
    choice = choice_of({"assembleToolDeltas": True})
    choice.feed(said({"content": "Let me."}))
    left = choice.feed(said({"tool_calls": [{**GOOD, "id": "x"}]}, "stop"))
    message = {"role": "assistant", "content": "Let me.", "tool_calls": [call("functions.bash:0", "bash", "{}")]}
    assert left == [said({"tool_calls": [GOOD]}), {**said({}, "tool_calls"), "message": message}]
    choice = choice_of({"assembleToolDeltas": True, "enforceFinishReasonLoop": False})
    choice.feed(said({"tool_calls": [GOOD]}))
    (last,) = choice.end()
    assert last["finish_reason"] == "tool_calls"
    assert last["message"]["tool_calls"] == [call("functions.bash:0", "bash", "{}")]


def test_text_chunks_are_told_without_their_payload() -> None:
    choice = choice_of(PARSING)
    assert choice.say("content", "a") is None
    assert choice.say("content", "<") == []
    assert choice.say("content", "b") == [Text("content", "<b")]
    assert choice.say("reasoning_content", "r") is None
    told = choice.say("content", CALL.format("functions.bash:0", "{}"))
    assert told == [ToldCalls(0, ["functions.bash:0"], ["bash"], ["{}"])]
    watching = choice_of()
    assert watching.say("reasoning", "<|tool_call_begin|>") is None
    assert kinds(watching) == ["markers_seen"]


def test_plain_text_is_something_said() -> None:
    choice = choice_of(PARSING)
    choice.feed(said({"content": "<think>a</think>"}))
    choice.feed(said({"content": "<think>"}))
    assert choice.plain("reasoning", b"a")
    assert not choice.plain("content", b"")  # a text behind it, unseen, would not count as said
    assert not choice.said
    assert choice.plain("content", b"a")
    assert choice.said
    assert choice.plain("content", b"")


def test_text_is_plain_unless_a_marker_may_be_in_it() -> None:
    choice = choice_of()
    choice.feed(said({"content": "a"}))
    assert choice.plain("content", b"b")
    assert not choice.plain("content", b"a < b")
    choice.feed(said({"content": "<|tool"}))
    assert not choice.plain("content", b"b")
    assert choice.plain("reasoning", b"b")
    parsing = choice_of(PARSING)
    assert not parsing.plain("content", b"b")  # a think tag may stand at the very start
    parsing.feed(said({"content": "a"}))
    assert parsing.plain("content", b"b")
    assert parsing.plain("reasoning", b"b")
    own = choice_of({"toolTokens": {"callBegin": "[[CALL]]"}})
    own.feed(said({"content": "a"}))
    assert own.plain("content", b"b")
    assert not own.plain("content", b"[")
    odd = choice_of({"toolTokens": {"callBegin": "é"}})
    odd.feed(said({"content": "a"}))
    assert not odd.plain("content", b"b")


def test_a_text_chunk_that_says_nothing_leaves_as_it_came() -> None:
    assert choice_of(PARSING).say("content", "") is None
