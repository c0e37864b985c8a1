"""What streams and whole answers share."""

from __future__ import annotations

from typing import Any

from tests.kimi.answering import PARSING, begin, call

from moongate.kimi.call import Call, ToldCalls
from moongate.kimi.choice import ChoiceState, Told, merged
from moongate.kimi.pieces import CallArguments, CallClosed, CallOpened, Dropped, Piece, Text, WholeCalls

Row = dict[str, Any]


def state_of(options: Row | None = None) -> ChoiceState:
    return ChoiceState(begin(options)._answer, 0)


def spelt(told: list[Told]) -> list[Any]:
    return [
        each.text if isinstance(each, Text) else each.id if isinstance(each, Call) else each[1]
        for each in told
        if not isinstance(each, ToldCalls)
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


def test_markers_that_nobody_parses_are_told_of_once() -> None:
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


def test_nobody_watches_for_a_second_marker() -> None:
    state = state_of()
    state.watch("reasoning", "<|tool")
    state.watch("content", "a <|tool_call_")
    state.watch("content", "begin|>")
    assert "markers_seen" in kinds(state)
    assert not state.is_watching("content")
    assert not state.is_watching("reasoning")


def test_markers_of_ones_own_are_watched_without_the_usual_gate() -> None:
    state = state_of({"toolTokens": {"callBegin": "[[CALL]]"}})
    state.watch("content", "x [[CALL]]")
    assert kinds(state) == ["markers_seen"]


def test_pieces_become_text_calls_and_arguments() -> None:
    state = state_of(PARSING)
    opened: list[Piece] = [Text("content", "a"), CallOpened("functions.bash:0", "bash")]
    assert spelt(state.told(opened)) == ["a", "functions.bash:0"]
    assert spelt(state.told([CallArguments("{")])) == ["{"]
    assert spelt(state.told([CallArguments("}"), CallClosed(), Dropped("<x>", "why")])) == ["}"]
    assert not state.cut
    assert kinds(state) == ["markers_parsed", "markers_parsed"]
    state.told([CallOpened("", "bash"), CallClosed(cut=True)])
    state.told([CallOpened("", "bash"), CallClosed()])
    assert state.cut


def test_a_call_that_may_have_come_natively_waits_for_its_end() -> None:
    state = state_of(PARSING)
    state.calls.whole([call("functions.bash:0", "bash", '{"a": 1}')])
    assert state.told([CallOpened("functions.bash:0", "bash"), CallArguments('{"a":')]) == []
    assert state.told([CallArguments("1}"), CallClosed()]) == []
    assert kinds(state) == ["markers_parsed"]
    told = state.told([CallOpened("functions.bash:1", "bash"), CallArguments("{}"), CallClosed()])
    assert spelt(told) == ["functions.bash:1", "{}"]


def test_whole_calls_are_told_at_once() -> None:
    state = state_of(PARSING)
    pieces: list[Piece] = [
        WholeCalls([("functions.bash:0", "bash", "{}"), ("x", "read", '{"a":1}')]),
        Text("content", "a"),
    ]
    told = state.told(pieces)
    assert told[0] == ToldCalls(0, ["functions.bash:0", "functions.read:1"], ["bash", "read"], ["{}", '{"a":1}'])
    assert spelt(told) == ["a"]


def test_whole_calls_beside_native_ones_are_compared_one_by_one() -> None:
    state = state_of(PARSING)
    state.calls.whole([call("functions.bash:0", "bash", '{"a": 1}')])
    told = state.told([WholeCalls([("functions.bash:0", "bash", '{"a":1}'), ("7", "read", "{}"), ("8", "bash", "{}")])])
    assert spelt(told) == ["functions.read:1", "{}", "functions.bash:2", "{}"]


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
    state.said = True
    assert state.finish_reason("stop") == "stop"
    assert kinds(state) == []
    state.calls.present = True
    state.said = False
    assert state.finish_reason("stop") == "tool_calls"
    assert kinds(state) == ["finish_reason"]
