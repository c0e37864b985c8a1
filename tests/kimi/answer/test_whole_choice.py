"""One choice of a whole answer."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import CALL, PARSING, SECTION, answer, begin, call

from moongate.kimi.answer.whole_choice import repair_choice

Row = dict[str, Any]


def mended(choice: Row, options: Row | None = None) -> tuple[Row, list[str]]:
    found = begin(options).answer
    return repair_choice(found, 0, choice), [note.kind for note in found.notes]


def whole(message: Any, reason: Any = "stop", **more: Any) -> Row:
    return {"index": 0, "message": message, "finish_reason": reason, **more}


@pytest.mark.parametrize("options", [None, PARSING])
@pytest.mark.parametrize(
    "choice",
    [
        whole({"role": "assistant", "content": "Hi"}),
        whole(
            {"role": "assistant", "content": "Hi", "reasoning": "r", "reasoning_content": "q", "x": 1}, logprobs=None
        ),
        whole({"role": "assistant", "content": "Hi", "reasoning_content": "a < b"}),
        whole({"role": "assistant", "content": "Hi", "reasoning": {"odd": 1}}),
        whole({"content": None, "refusal": "no"}),
        whole({"content": "a < b", "tool_calls": []}, "odd"),
        whole({"content": "a", "tool_calls": {}}, "length"),
        whole({"content": "a", "tool_calls": {"odd": 1}}, "length"),
        whole({"content": ["odd"], "tool_calls": [call()]}, "tool_calls"),
        whole({"content": "a"}, 7),
    ],
)
def test_what_breaks_no_rule_is_the_same_object(choice: Row, options: Row | None) -> None:
    left, notes = mended(choice, options)
    assert left is choice
    assert not notes


def test_a_choice_without_a_message_is_left_alone() -> None:
    left, notes = mended(whole(None, "stop"))
    assert left["finish_reason"] == "stop"
    assert notes == ["empty_turn"]


def test_an_empty_turn_is_noted() -> None:
    left, notes = mended(whole({"content": "", "reasoning_content": "r"}))
    assert left["message"] == {"content": "", "reasoning_content": "r"}
    assert notes == ["empty_turn"]


@pytest.mark.parametrize("options", [None, PARSING])
def test_content_in_parts_is_no_empty_turn_and_stays(options: Row | None) -> None:
    parts = [{"type": "text", "text": "Hi"}]
    found = begin(options).answer
    leaked = SECTION.format(CALL.format("functions.bash:0", "{}")) if options else "r"
    left = repair_choice(found, 0, whole({"content": parts, "reasoning_content": leaked}))
    assert left["message"]["content"] == parts
    assert found.judge.choices[0] == frozenset()
    assert "empty_turn" not in [note.kind for note in found.notes]


def test_native_calls_come_before_those_in_markers() -> None:
    text = "x" + SECTION.format(CALL.format("functions.read:0", "{}") + CALL.format("functions.bash:1", "{ }"))
    left, notes = mended(whole({"content": text, "tool_calls": [call("q", "bash", "{}")], "x": 1}), PARSING)
    assert left["message"] == {
        "content": "x",
        "tool_calls": [call("functions.bash:0"), call("functions.read:1", "read")],
        "x": 1,
    }
    assert left["finish_reason"] == "tool_calls"
    assert (notes[0], notes[-1]) == ("id", "finish_reason")
    assert set(notes[1:-1]) == {"markers_parsed"}


def test_text_goes_where_the_parser_put_it() -> None:
    left, _ = mended(whole({"content": "<think>r</think>c"}), PARSING)
    assert left["message"] == {"content": "c", "reasoning_content": "r"}
    left, _ = mended(whole({"content": "<think></think>c", "reasoning": None}), PARSING)
    assert left["message"] == {"content": "c", "reasoning": None}
    marked = CALL.format("functions.bash:0", "{}")
    left, _ = mended(whole({"content": None, "reasoning": marked}), PARSING)
    assert left["message"] == {"content": None, "reasoning": None, "tool_calls": [call()]}
    left, _ = mended(whole({"content": "c", "reasoning": "r" + marked + "d"}), PARSING)
    assert left["message"] == {"content": "dc", "reasoning": "r", "tool_calls": [call()]}


def test_markers_that_are_not_parsed_are_noted() -> None:
    choice = whole({"content": "c", "reasoning": "<|tool_call_begin|>"})
    left, notes = mended(choice)
    assert left is choice
    assert notes == ["markers_seen"]


def test_a_whole_answer_goes_through_the_exchange() -> None:
    assert begin().reply(answer({"content": "a"}, None)) == answer({"content": "a"}, "stop")


def test_a_message_whose_only_call_has_no_name_loses_its_calls() -> None:
    left, notes = mended(whole({"content": "c", "tool_calls": [call(name="")]}, "tool_calls"))
    assert left == whole({"content": "c"})
    assert notes == ["call_dropped", "finish_reason"]
