"""One choice of a whole answer."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import CALL, PARSING, SECTION, answer, begin, call

from moongate.kimi.whole import mended_choice

Row = dict[str, Any]


def mended(choice: Row, options: Row | None = None) -> tuple[Row, list[str]]:
    found = begin(options)._answer
    return mended_choice(found, 0, choice), [note.kind for note in found.notes]


def said(message: Any, reason: Any = "stop", **more: Any) -> Row:
    return {"index": 0, "message": message, "finish_reason": reason, **more}


@pytest.mark.parametrize("options", [None, PARSING])
@pytest.mark.parametrize(
    "choice",
    [
        said({"role": "assistant", "content": "Hi"}),
        said({"role": "assistant", "content": "Hi", "reasoning": "r", "reasoning_content": "q", "x": 1}, logprobs=None),
        said({"role": "assistant", "content": "Hi", "reasoning_content": "a < b"}),
        said({"role": "assistant", "content": "Hi", "reasoning": {"odd": 1}}),
        said({"content": None, "refusal": "no"}),
        said({"content": "a < b", "tool_calls": []}, "odd"),
        said({"content": "a", "tool_calls": {}}, "length"),
        said({"content": "a", "tool_calls": {"odd": 1}}, "length"),
        said({"content": ["odd"], "tool_calls": [call()]}, "tool_calls"),
        said({"content": "a"}, 7),
    ],
)
def test_what_breaks_no_rule_is_the_same_object(choice: Row, options: Row | None) -> None:
    left, notes = mended(choice, options)
    assert left is choice
    assert not notes


def test_a_choice_without_a_message_is_left_alone() -> None:
    left, notes = mended(said(None, "stop"))
    assert left["finish_reason"] == "stop"
    assert notes == ["empty_turn"]


def test_an_empty_turn_is_told_of() -> None:
    left, notes = mended(said({"content": "", "reasoning_content": "r"}))
    assert left["message"] == {"content": "", "reasoning_content": "r"}
    assert notes == ["empty_turn"]


def test_native_calls_come_before_those_in_markers() -> None:
    text = "x" + SECTION.format(CALL.format("functions.read:0", "{}") + CALL.format("functions.bash:1", "{ }"))
    left, notes = mended(said({"content": text, "tool_calls": [call("q", "bash", "{}")], "x": 1}), PARSING)
    assert left["message"] == {
        "content": "x",
        "tool_calls": [call("functions.bash:0"), call("functions.read:0", "read")],
        "x": 1,
    }
    assert left["finish_reason"] == "tool_calls"
    assert (notes[0], notes[-1]) == ("id", "finish_reason")
    assert set(notes[1:-1]) == {"markers_parsed"}


def test_text_goes_where_the_parser_put_it() -> None:
    left, _ = mended(said({"content": "<think>r</think>c"}), PARSING)
    assert left["message"] == {"content": "c", "reasoning_content": "r"}
    left, _ = mended(said({"content": "<think></think>c", "reasoning": None}), PARSING)
    assert left["message"] == {"content": "c", "reasoning": None}
    marked = CALL.format("functions.bash:0", "{}")
    left, _ = mended(said({"content": None, "reasoning": marked}), PARSING)
    assert left["message"] == {"content": None, "reasoning": None, "tool_calls": [call()]}
    left, _ = mended(said({"content": "c", "reasoning": "r" + marked + "d"}), PARSING)
    assert left["message"] == {"content": "dc", "reasoning": "r", "tool_calls": [call()]}


def test_markers_that_are_not_parsed_are_told_of() -> None:
    choice = said({"content": "c", "reasoning": "<|tool_call_begin|>"})
    left, notes = mended(choice)
    assert left is choice
    assert notes == ["markers_seen"]


def test_a_whole_answer_goes_through_the_exchange() -> None:
    assert begin().reply(answer({"content": "a"}, None)) == answer({"content": "a"}, "stop")
