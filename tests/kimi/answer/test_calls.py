"""Native calls, streamed and whole (sections 3.7 to 3.10)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import PARSING, call, kinds
from tests.kimi.call_entries import Row, calls_of, delta, whole

from moongate import Note


def test_valid_deltas_are_the_same_objects() -> None:
    calls, answer = calls_of()
    for entries in (
        [delta(0, "functions.bash:0", "bash", "", type="function")],
        [delta(0, None, None, '{"a"')],
        [{"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": ":1}"}}],
        [{"index": 0, "id": "", "type": "", "function": {"name": "", "arguments": " "}}],
        [{"index": 0, "function": {"name": "bash", "arguments": " "}}],
        [{"index": 0}],
        ["odd"],
    ):
        assert calls.deltas(entries) is entries
    assert calls.unfinished() == []
    assert calls.present
    assert not answer.notes


def test_later_deltas_that_change_have_no_id_and_no_empty_members() -> None:
    calls, answer = calls_of()
    calls.deltas([delta(0, "x", "bash", "", type="function")])
    later = {"index": 0, "id": "x", "type": "", "function": {"name": "bash", "arguments": "{"}, "extra": 1}
    assert calls.deltas([later]) == [{"index": 0, "function": {"arguments": "{"}, "extra": 1}]
    assert calls.deltas([{"index": 0, "id": "x"}]) == [{"index": 0}]
    assert kinds(answer) == ["id", "stream_shape"]


def test_a_second_name_before_arguments_is_dropped() -> None:
    calls, _ = calls_of()
    calls.deltas([delta(0, "functions.bash:0", "bash", "", type="function")])
    assert calls.deltas([delta(0, None, "read", "{")]) == [{"index": 0, "function": {"arguments": "{"}}]


def test_a_name_that_was_not_offered_may_come_in_pieces() -> None:
    calls, answer = calls_of()
    assert calls.deltas([delta(0, "functions.unheard:0", "unh", type="function")]) == []
    assert calls.deltas([delta(0, None, "eard")]) == []
    assert calls.deltas([delta(0, None, None, "{")]) == [
        delta(0, "functions.unheard:0", "unheard", "{", type="function")
    ]
    (note,) = answer.notes
    assert note == Note("stream_shape", "choices[0].message.tool_calls[0].function.name", "unh", "unheard")
    begun = delta(1, "functions.other:1", "other", "", type="function")
    assert calls.deltas([begun])[0] is begun, "its arguments have begun"


def test_a_call_is_held_back_until_its_name_comes() -> None:
    calls, _ = calls_of()
    assert calls.deltas([delta(0, "x", None, '{"a', extra=1)]) == []
    assert calls.deltas([delta(0, None, None, '":'), "odd"]) == ["odd"]
    assert calls.deltas([{"index": 0, "function": None}]) == []
    assert calls.deltas([delta(0, None, "bash", "1}")]) == [
        {
            "index": 0,
            "id": "functions.bash:0",
            "function": {"name": "bash", "arguments": '{"a":1}'},
            "extra": 1,
            "type": "function",
        }
    ]


def test_a_call_whose_name_never_comes_is_dropped_at_the_end() -> None:
    calls, answer = calls_of()
    assert calls.deltas([delta(0, None, None, "1")]) == []
    assert not calls.present
    assert calls.unfinished() == []
    assert not calls.present
    assert kinds(answer) == ["call_dropped"]


def test_a_name_behind_the_end_of_the_choice_does_not_bring_a_dropped_call_back() -> None:
    calls, answer = calls_of()
    assert calls.deltas([delta(0, "x", None, "{}")]) == []
    assert calls.unfinished() == []
    assert calls.deltas([delta(0, None, "bash", "")]) == []
    assert calls.unfinished() == []
    assert kinds(answer) == ["call_dropped"]


def test_calls_behind_one_without_a_name_are_numbered_without_a_gap() -> None:
    calls, _ = calls_of()
    assert calls.deltas([delta(0, "x", None, "1")]) == []
    (first,) = calls.deltas([delta(1, "y", "bash", "{}", type="function")])
    assert (first["index"], first["id"]) == (0, "functions.bash:0")
    (late,) = calls.deltas([delta(0, None, "read", "2")])
    assert (late["index"], late["id"], late["function"]["arguments"]) == (1, "functions.read:1", "12")
    assert calls.deltas([delta(1, None, None, " ")]) == [{"index": 0, "function": {"arguments": " "}}]


def test_a_name_in_pieces_leaves_whole_where_the_next_call_begins_or_the_choice_ends() -> None:
    calls, answer = calls_of()
    assert calls.deltas([delta(0, "x", "ba", "", type="function")]) == []
    assert calls.deltas([delta(0, None, "sh")]) == [
        {"index": 0, "id": "functions.bash:0", "type": "function", "function": {"name": "bash", "arguments": ""}}
    ]
    assert calls.deltas([delta(1, "y", "functions.", "", type="function")]) == []
    left = calls.deltas([delta(2, "z", "re", "", type="function")])
    assert [each["function"]["name"] for each in left] == ["functions."]
    left = calls.unfinished()
    assert [each["function"].get("name") for each in left] == ["re", None, None, None]
    assert [each["index"] for each in left] == [2, 0, 1, 2]
    assert kinds(answer)[-3:] == ["arguments"] * 3


def test_a_whole_name_that_comes_twice_is_no_longer_name() -> None:
    calls, _ = calls_of()
    assert calls.deltas([delta(0, "functions.bash:0", "functions.bash:0", type="function")]) == []
    (left,) = calls.deltas([delta(0, None, "functions.bash:0", "{")])
    assert left["function"] == {"name": "bash", "arguments": "{"}


def test_a_call_that_waits_for_more_of_its_name_leaves_before_text() -> None:
    calls, _ = calls_of(PARSING)
    assert calls.deltas([delta(0, "x"), delta(1, "functions.bash:0", "ba", type="function")]) == []
    assert calls.waits_for_name
    left = calls.release_before_text()
    assert [entry["function"]["name"] for entry in left] == ["ba"]
    assert not calls.waits_for_name, "a call without any name goes on waiting"
    calls, _ = calls_of(PARSING)
    calls.open("functions.bash:0", "bash")
    assert calls.deltas([delta(0, "functions.bash:0", "bash", "{", type="function")]) == []
    assert not calls.waits_for_name, "it waits for its arguments: the same call may have come as markers"
    assert calls.release_before_text() == []


def test_custom_calls_keep_their_shape() -> None:
    calls, answer = calls_of()
    first = {"index": 0, "id": "c", "custom": {"name": "patch", "input": ""}}
    body = {"name": "patch", "input": ""}
    assert calls.deltas([first]) == [{"index": 0, "id": "functions.patch:0", "custom": body, "type": "custom"}]
    more = [{"index": 0, "custom": {"input": "*"}}]
    assert calls.deltas(more) is more
    assert calls.unfinished() == []
    assert kinds(answer) == ["id", "stream_shape"]
    good = [{"id": "functions.patch:0", "type": "custom", "custom": {"name": "patch", "input": None}}]
    assert whole(good) == (good, [])


def test_calls_without_arguments_get_an_empty_object_at_the_end() -> None:
    calls, answer = calls_of({"assembleToolDeltas": True})
    for at, arguments in enumerate((None, "", "{ }")):
        calls.deltas([delta(at, f"functions.bash:{at}", "bash", arguments, type="function")])
    assert calls.unfinished() == [{"index": at, "function": {"arguments": "{}"}} for at in (0, 1)]
    assert kinds(answer) == ["arguments", "arguments"]
    assert [each.arguments for each in calls.all] == ["{}", "{}", "{ }"]


def test_a_missing_index_is_added_even_with_id_repair_off() -> None:
    calls, _ = calls_of({"repairOnMismatch": False})
    assert calls.deltas([delta(None, "x", "functions.bash", None)]) == [{**delta(0, "x", "functions.bash", None)}]
    assert calls.deltas([delta(None, None, None, "{}")]) == [{"index": 0, "function": {"arguments": "{}"}}]
    assert calls.deltas(["odd", delta(None, "y", "bash", "")]) == ["odd", delta(1, "y", "bash", "")]
    assert calls.unfinished() == []


def test_calls_are_not_inspected_if_no_rule_is_on() -> None:
    calls, _ = calls_of({"repairOnMismatch": False})
    entries = [delta(0, "x", "bash", {})]
    assert calls.deltas(entries) is entries
    assert calls.whole(entries) is entries
    assert calls.all == []


@pytest.mark.parametrize("options", [None, PARSING, {"repairArguments": True}])
def test_valid_calls_are_the_same_objects(options: Row | None) -> None:
    entries = [call("functions.bash:0"), "odd", call("functions.read:7", "read")]
    left, notes = whole(entries, options)
    assert left is entries
    assert notes == []


@pytest.mark.parametrize("options", [None, PARSING])
def test_invalid_ids_of_a_whole_answer_are_replaced(options: Row | None) -> None:
    left, notes = whole([call("x", extra=1), call(None, "read"), call("functions.bash:0")], options)
    assert [each["id"] for each in left] == ["functions.bash:0", "functions.read:1", "functions.bash:2"]
    assert left[0]["extra"] == 1
    assert notes == ["id", "id", "id"]


@pytest.mark.parametrize(("arguments", "text"), [(None, "{}"), ("", "{}"), ({}, "{}"), ({"a": 1}, '{"a":1}'), (0, "0")])
def test_arguments_of_the_wrong_type_in_a_whole_answer_become_text(arguments: Any, text: str) -> None:
    left, notes = whole([call("functions.bash:0", "bash", arguments)])
    assert left[0]["function"]["arguments"] == text
    assert set(notes) == {"arguments"}


def test_missing_members_in_a_whole_answer_are_added() -> None:
    left, notes = whole([{"id": "functions.bash:0", "function": {"name": "bash"}}, {"function": {"name": "read"}}])
    assert left == [call("functions.bash:0"), call("functions.read:1", "read")]
    assert set(notes) == {"id", "arguments", "stream_shape"}


def test_calls_without_a_name_are_dropped_from_a_whole_answer() -> None:
    left, notes = whole([{"function": None}, call("functions.bash:5"), {}, call("x", "")])
    assert left == [call("functions.bash:5")]
    assert notes == ["call_dropped"] * 3
    entries = [{"function": None}]
    assert whole(entries, {"repairOnMismatch": False}) == (entries, [])


def test_arguments_of_whole_answers_are_repaired_if_the_option_is_on() -> None:
    entries = [call("functions.bash:0", "bash", '{"command": "a\nb"}')]
    assert whole(entries)[0] is entries
    left, notes = whole(entries, {"repairArguments": True})
    assert left[0]["function"]["arguments"] == '{"command": "a\\nb"}'
    assert notes == ["arguments"]
    left, notes = whole(entries, {"repairArguments": True, "repairOnMismatch": False})
    assert notes == ["arguments"]
    odd = [call("functions.bash:0", "bash", {"a": 1})]
    assert whole(odd, {"repairArguments": True, "repairOnMismatch": False})[0] is odd


def test_the_name_that_the_client_sees_replaces_an_id_in_its_place() -> None:
    calls, _ = calls_of()
    entry = delta(0, "functions.bash:3", "functions.bash:3", "{}", type="function")
    assert calls.deltas([entry]) == [{**entry, "function": {"name": "bash", "arguments": "{}"}}]
    left, _ = whole([call("functions.bash:0", "functions.bash:3")])
    assert left == [call("functions.bash:0")]


def test_native_calls_are_recorded_where_markers_are_parsed() -> None:
    calls, _ = calls_of(PARSING)
    calls.deltas([delta(0, "functions.bash:0", "bash", '{"a": 1}', type="function")])
    assert calls.repeats("bash", '{"a":1}')
    calls, _ = calls_of(PARSING)
    calls.whole([call("x", "bash", '{"a": 1}')])
    assert calls.repeats("bash", '{"a":1}')


def test_a_native_call_that_came_as_markers_is_dropped() -> None:
    calls, answer = calls_of(PARSING)
    calls.emit_whole([("functions.bash:0", "bash", '{"a":1}')])
    assert calls.deltas([delta(0, "functions.bash:0", "bash", '{"a"', type="function")]) == []
    assert calls.deltas([delta(0, None, None, ": 1}")]) == []
    assert calls.deltas([delta(0, None, None, " ")]) == [], "the rest of it is dropped as well"
    assert calls.unfinished() == []
    assert kinds(answer) == ["markers_parsed"] * 2
    assert answer.notes[-1].after == "the same call came as markers"


def test_calls_that_wait_where_the_next_one_begins_are_compared_with_those_that_came_as_markers() -> None:
    calls, _ = calls_of(PARSING)
    calls.emit_whole([("functions.bash:0", "bash", "")])
    assert calls.deltas([delta(0, "functions.bash:0", "bash", type="function")]) == []
    assert calls.deltas([delta(1, "y", "bash", '{"b"', type="function")]) == [], "the first one was a duplicate"
    (left,) = calls.deltas([delta(2, "functions.read:2", "read", "{}", type="function")])[:1]
    assert (left["index"], left["function"]) == (1, {"name": "bash", "arguments": '{"b"'})


def test_nothing_is_missing_without_native_calls() -> None:
    calls, answer = calls_of()
    assert calls.unfinished() == []
    assert not answer.notes
