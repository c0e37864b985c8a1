"""What streams and whole answers share."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import PARSING, begin, call

from moongate.kimi.answer.call import AnswerCall, EmittedCalls
from moongate.kimi.answer.choice import ChoiceState, Emitted, has_other_content, merged
from moongate.kimi.markers.piece_builder import NAMELESS
from moongate.kimi.markers.pieces import CallArguments, CallClosed, CallOpened, Dropped, Piece, Text, WholeCalls

Row = dict[str, Any]


def state_of(options: Row | None = None) -> ChoiceState:
    return ChoiceState(begin(options).answer, 0)


def spelt(emitted: list[Emitted]) -> list[Any]:
    return [
        each.text if isinstance(each, Text) else each.id if isinstance(each, AnswerCall) else each[1]
        for each in emitted
        if not isinstance(each, EmittedCalls)
    ]


def kinds(state: ChoiceState) -> list[str]:
    return [note.kind for note in state.answer.notes]


def test_texts_of_a_message_reasoning_first() -> None:
    state = state_of()
    assert state.texts({"content": "c", "reasoning_content": "r"}) == [("reasoning", "r"), ("content", "c")]
    assert list(state.fields) == ["reasoning_content"]
    assert state.texts({"content": None, "reasoning": "r"}) == [("reasoning", "r")]
    assert list(state.fields) == ["reasoning"]
    assert state.texts({"reasoning": "r", "reasoning_content": "r"}) == [("reasoning", "r")]
    assert list(state.fields) == ["reasoning_content", "reasoning"]
    assert state.texts({"reasoning": "other", "reasoning_content": "r"}) == [("reasoning", "r")]
    assert list(state.fields) == ["reasoning_content"]
    assert state.texts({"content": ["c"], "reasoning": 1, "reasoning_content": {}}) == []
    assert state.texts({}) == []
    assert list(state.fields) == ["reasoning_content"]
    assert state.texts({"content": "c", "reasoning": ""}) == [("content", "c")]
    assert list(state.fields) == ["reasoning"], "an empty text shows the name that the provider uses"
    for message, field in (
        ({"reasoning": None}, "reasoning"),
        ({"reasoning": None, "reasoning_content": None}, "reasoning_content"),
    ):
        state = state_of()
        assert state.texts(message) == []
        assert list(state.fields) == [field], "so does null, where no other name is there"


def test_markers_that_are_not_parsed_are_noted_once() -> None:
    state = state_of()
    state.watch("content", "plain")
    assert not state.is_watching("content")
    state.watch("content", "a <|tool_call_")
    assert state.is_watching("content")
    assert not state.is_watching("reasoning")
    state.watch("reasoning", "b < c")
    state.watch("content", "begin|>")
    state.watch("content", "<|tool_call_begin|>")
    state.watch("reasoning", "<|tool_call_begin|>")
    assert kinds(state) == ["markers_seen"]
    assert state.answer.notes[0].before == "<|tool_call_begin|>"
    other = state_of(PARSING)
    other.watch("content", "<|tool_call_begin|>")
    assert kinds(other) == []


def test_after_the_first_marker_no_other_is_looked_for() -> None:
    state = state_of()
    state.watch("reasoning", "<|tool")
    state.watch("content", "a <|tool_call_")
    state.watch("content", "begin|>")
    assert "markers_seen" in kinds(state)
    assert not state.is_watching("content")
    assert not state.is_watching("reasoning")


def test_configured_markers_are_watched() -> None:
    state = state_of({"toolTokens": {"callBegin": "[[CALL]]"}})
    state.watch("content", "x [[CALL]]")
    assert kinds(state) == ["markers_seen"]


def test_pieces_become_text_calls_and_arguments() -> None:
    state = state_of(PARSING)
    opened: list[Piece] = [Text("content", "a"), CallOpened("functions.bash:0", "bash")]
    assert spelt(state.emit(opened)) == ["a", "functions.bash:0"]
    assert spelt(state.emit([CallArguments("{")])) == ["{"]
    assert spelt(state.emit([CallArguments("}"), CallClosed(), Dropped("<x>", "why")])) == ["}"]
    assert not state.truncated
    assert kinds(state) == ["markers_parsed", "markers_parsed"]
    state.emit([CallOpened("", "bash"), CallClosed(truncated=True)])
    state.emit([CallOpened("", "bash"), CallClosed()])
    assert state.truncated


def test_a_call_that_may_have_come_natively_waits_for_its_end() -> None:
    state = state_of(PARSING)
    state.calls.whole([call("functions.bash:0", "bash", '{"a": 1}')])
    assert state.emit([CallOpened("functions.bash:0", "bash"), CallArguments('{"a":')]) == []
    assert state.emit([CallArguments("1}"), CallClosed()]) == []
    assert kinds(state) == ["markers_parsed"]
    emitted = state.emit([CallOpened("functions.bash:1", "bash"), CallArguments("{}"), CallClosed()])
    assert spelt(emitted) == ["functions.bash:1", "{}"]


def test_a_call_that_may_repeat_a_native_one_that_goes_on_waits_for_the_end() -> None:
    state = state_of(PARSING)
    native = call("functions.bash:0", "bash", "")
    state.calls.deltas([{"index": 0, **native}])
    for name, arguments in (("bash", "{}"), ("bash", '{"a": 1}'), ("read", "{}")):
        assert state.emit([CallOpened("", name), CallArguments(arguments), CallClosed()]) == []
    state.calls.deltas([{"index": 0, "function": {"arguments": '{"a":1}'}}])
    assert spelt(state.late_calls()) == ["functions.bash:1", "{}", "functions.read:2", "{}"]
    assert state.late_calls() == []


def test_whole_calls_are_emitted_at_once() -> None:
    state = state_of(PARSING)
    pieces: list[Piece] = [
        WholeCalls([("functions.bash:0", "bash", "{}"), ("x", "read", '{"a":1}')]),
        Text("content", "a"),
    ]
    emitted = state.emit(pieces)
    assert emitted[0] == EmittedCalls(0, ["functions.bash:0", "functions.read:1"], ["bash", "read"], ["{}", '{"a":1}'])
    assert spelt(emitted) == ["a"]


def test_whole_calls_beside_native_ones_are_compared_one_by_one() -> None:
    state = state_of(PARSING)
    state.calls.whole([call("functions.bash:0", "bash", '{"a": 1}')])
    emitted = state.emit(
        [WholeCalls([("functions.bash:0", "bash", '{"a":1}'), ("7", "read", "{}"), ("8", "bash", "{}")])]
    )
    assert spelt(emitted) == ["functions.read:1", "{}", "functions.bash:2", "{}"]


def test_neighbours_of_the_same_text_are_joined() -> None:
    pieces: list[Piece] = [
        Text("content", "a"),
        Text("content", "b"),
        Text("reasoning", "c"),
        CallArguments("d"),
        CallArguments("e"),
        CallArguments("f"),
        CallClosed(),
        CallClosed(),
    ]
    assert merged(pieces) == [
        Text("content", "ab"),
        Text("reasoning", "c"),
        CallArguments("def"),
        CallClosed(),
        CallClosed(),
    ]


def test_the_finish_reason_leaves_notes() -> None:
    state = state_of()
    assert state.finish_reason("tool_calls") == "stop"
    assert kinds(state) == ["finish_reason", "empty_turn"]
    state = state_of()
    state.has_content = True
    assert state.finish_reason("stop") == "stop"
    assert kinds(state) == []
    state.calls.present = True
    state.has_content = False
    assert state.finish_reason("stop") == "tool_calls"
    assert kinds(state) == ["finish_reason"]


def test_markers_that_the_parser_let_pass_are_leaks() -> None:
    state = state_of(PARSING)
    for text, leaked in (("a", False), ("a < b", False), ("x<|tool_call_end|>", True), ("a", True)):
        state.look_for_leaks("content", text)
        assert state.leaked is leaked


def test_a_leak_may_come_in_parts() -> None:
    state = state_of(PARSING)
    state.look_for_leaks("content", "x<|tool_")
    assert state.is_watching("content")
    assert not state.is_watching("reasoning")
    state.look_for_leaks("reasoning", "call_end|>")
    assert not state.leaked
    state.look_for_leaks("content", "call_end|>")
    assert state.leaked
    assert not state.is_watching("content")
    state.look_for_leaks("content", "<|tool_")
    assert not state.is_watching("content"), "one leak is enough"


def test_the_end_of_a_choice_is_judged() -> None:
    state = state_of(PARSING)
    state.emit([Dropped("<|open|>call", NAMELESS)])
    state.judge("stop")
    assert state.answer.judge.choices == {0: {"empty_turn", "nameless"}}


def test_a_call_without_a_name_is_noted_as_dropped() -> None:
    state = state_of(PARSING)
    state.emit([Dropped("<|open|>call", NAMELESS), Dropped("<x>", "a marker outside a call")])
    assert kinds(state) == ["markers_parsed", "call_dropped", "markers_parsed"]


def test_a_leak_that_only_the_end_of_the_text_shows() -> None:
    state = state_of(PARSING)
    state.text_ended(leaked=False)
    assert not state.cut_markup
    state.look_for_leaks("content", "<|tool_call_begin|>func")
    state.text_ended(leaked=True)
    assert (state.leaked, state.cut_markup) == (True, False)
    state.text_ended(leaked=False)
    assert (state.leaked, state.cut_markup) == (False, True)


@pytest.mark.parametrize(
    ("message", "says_something"),
    [({"refusal": "No."}, True), ({"content": [{"type": "text"}]}, True), ({"content": []}, False), ({}, False)],
)
def test_a_refusal_and_content_in_parts_are_content(message: Row, says_something: bool) -> None:
    assert has_other_content(message) is says_something
