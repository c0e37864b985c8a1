"""Calls parsed from markers, next to native ones."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import K3, PARSING, call
from tests.kimi.call_entries import RENAMED_TOOL, calls_of, delta


def test_native_and_parsed_calls_have_different_indexes_even_with_id_repair_off() -> None:
    calls, _ = calls_of({"repairOnMismatch": False, **PARSING})
    assert calls.open("bash:4", "bash").index == 0
    entry = delta(0, "x", "time", "", type="function")
    assert calls.deltas([entry]) == [{**entry, "index": 1}]
    later = delta(0, "x", "time", "{}", type=None)
    assert calls.deltas([later]) == [{"index": 1, "id": "x", "function": {"name": "time", "arguments": "{}"}}]


@pytest.mark.parametrize("options", [PARSING, {"repairOnMismatch": False, **PARSING}])
def test_a_native_call_that_came_as_markers_is_dropped_one_for_one(options: dict[str, Any]) -> None:
    calls, answer = calls_of(options)
    calls.emit_whole([("functions.bash:0", "bash", '{"command": "ls"}'), ("functions.bash:1", "bash", "{}")])
    assert calls.deltas([delta(0, "x", "bash", "", type="function")]) == []
    assert calls.deltas([delta(0, None, None, '{"command"')]) == []
    assert calls.deltas([delta(0, None, None, ':"ls"}')]) == []
    assert calls.deltas([delta(0, None, None, " ")]) == []
    assert calls.deltas([delta(1, "y", "bash", '{"command": "ls"}', type="function")])[0]["index"] == 2
    assert calls.deltas([delta(2, "z", "bash", "", type="function")]) == []
    assert calls.unfinished() == []
    assert [note.after for note in answer.notes if note.kind == "markers_parsed"][2:] == [
        "the same call came as markers"
    ] * 2


def test_a_native_call_that_may_have_come_as_markers_leaves_where_it_ends() -> None:
    calls, _ = calls_of(PARSING)
    calls.emit_whole([("functions.bash:0", "bash", "{}")])
    assert calls.deltas([delta(0, "x", "bash", '{"a": {}', type="function")]) == []
    left = calls.deltas([delta(1, "y", "read", "{}", type="function")])
    assert [(each["index"], each["function"]["name"]) for each in left] == [(1, "bash"), (2, "read")]
    assert left[0]["function"]["arguments"] == '{"a": {}'
    for _ in range(20):
        calls.deltas([delta(2, "z", "bash", "}", type="function")])
    assert [each["function"]["arguments"] for each in calls.unfinished()] == ["}" * 20]


def test_parsed_calls_get_ids_and_indexes() -> None:
    calls, answer = calls_of(PARSING)
    assert not calls.has_native
    first, second = calls.open("functions.bash:0", "bash"), calls.open("bash:4", "bash")
    assert [(each.index, each.id, each.client_name) for each in (first, second)] == [
        (0, "functions.bash:0", "bash"),
        (1, "functions.bash:1", "bash"),
    ]
    assert list(calls.emit_whole([("", "time", "{}"), ("functions.bash:9", "bash", '{"a":1}')])) == [
        (2, "functions.time:2", "time", "{}"),
        (3, "functions.bash:9", "bash", '{"a":1}'),
    ]
    assert calls.open("", "bash").index == 4
    assert [(note.kind, note.where) for note in answer.notes] == [
        ("markers_parsed", f"choices[0].message.tool_calls[{at}]") for at in range(5)
    ]
    assert calls.all == []


def test_parsed_calls_are_kept_where_calls_are_assembled() -> None:
    calls, _ = calls_of({**PARSING, "assembleToolDeltas": True})
    calls.open("", "bash").parts.append("{")
    emitted = [(1, "functions.bash:7", "bash", "{}"), (2, "functions.time:8", "time", "[]")]
    assert list(calls.emit_whole([("functions.bash:7", "bash", "{}"), ("", "time", "[]")])) == emitted
    assert [each.rendered() for each in calls.all] == [
        call("functions.bash:0", "bash", "{"),
        call("functions.bash:7", "bash", "{}"),
        call("functions.time:8", "time", "[]"),
    ]


def test_a_grammar_without_ids_gets_ids_even_with_id_repair_off() -> None:
    calls, _ = calls_of({**PARSING, "repairOnMismatch": False}, model=K3)
    assert calls.open("", "bash").id == "bash_0"
    calls.whole([call("bash_2", "read", "{}")])
    assert calls.open("", "bash").id == "bash_3"


def test_parsed_calls_are_compared_with_native_ones() -> None:
    calls, _ = calls_of(PARSING)
    assert not calls.may_repeat("bash")
    assert not calls.repeats("bash", "{}")
    calls.deltas([delta(0, "functions.bash:0", "bash", '{"a": ', type="function")])
    assert calls.may_repeat("bash")
    assert calls.may_yet_repeat("bash")
    assert not calls.repeats("bash", '{"a": 1}')
    calls.deltas([delta(0, None, None, "1}")])
    assert not calls.may_yet_repeat("bash")
    assert calls.repeats("bash", '{"a":1}')
    assert not calls.may_repeat("read")
    calls, _ = calls_of(PARSING)
    calls.whole([call("x", "bash", '{"a": 1}')])
    assert calls.repeats("bash", '{"a":1}')


def test_a_native_call_waits_for_one_of_its_name_that_is_being_read() -> None:
    calls, _ = calls_of(PARSING)
    marked = calls.begin("functions.bash:0", "bash")
    entry = delta(0, "functions.bash:1", "bash", '{"a": 1}', type="function")
    other = delta(1, "functions.read:2", "read", "{}", type="function")
    assert calls.deltas([entry]) == []
    assert calls.deltas([other]) == [other]
    marked.parts.append('{"a":1}')
    calls.closed(marked)
    assert calls.unfinished() == []


def test_parsed_calls_keep_their_ids_with_id_repair_off() -> None:
    calls, _ = calls_of({"repairOnMismatch": False, **PARSING})
    assert list(calls.emit_whole([("bash:4", "bash", "{}"), ("", "time", "{}")])) == [
        (0, "bash:4", "bash", "{}"),
        (1, "time_1", "time", "{}"),
    ]


def test_parsed_calls_get_the_original_names() -> None:
    calls, answer = calls_of({"schemaRules": "always", **PARSING}, request=RENAMED_TOOL)
    sent = answer.names.sent("21st.magic")
    assert list(calls.emit_whole([(f"functions.{sent}:0", sent, "{}"), ("", "time", "{}")])) == [
        (0, "functions.21st.magic:0", "21st.magic", "{}"),
        (1, "functions.time:1", "time", "{}"),
    ]
    assert [note.before for note in answer.notes if note.kind == "markers_parsed"] == [f"functions.{sent}:0", ""]


def test_a_name_that_is_an_id_becomes_the_offered_one() -> None:
    calls, answer = calls_of(PARSING)
    assert calls.open("", "functions.bash:0").client_name == "bash"
    assert list(
        calls.emit_whole([("functions.functions.read:3", "functions.read", "{}"), ("", "functions.x", "{}")])
    ) == [
        (1, "functions.read:1", "read", "{}"),
        (2, "functions.functions.x:2", "functions.x", "{}"),
    ]
    assert [(note.where, note.before, note.after) for note in answer.notes if note.kind == "tool_name"] == [
        ("choices[0].message.tool_calls[0].function.name", "functions.bash:0", "bash"),
        ("choices[0].message.tool_calls[1].function.name", "functions.read", "read"),
    ]
    calls.deltas([delta(0, "", "bash", '{"a": 1}', type="function")])
    assert calls.may_repeat("functions.bash")
    assert calls.repeats("functions_bash_0", '{"a":1}')
    calls, _ = calls_of({"repairOnMismatch": False, **PARSING})
    assert list(calls.emit_whole([("", "functions.bash", "{}")])) == [(0, "functions.bash_0", "functions.bash", "{}")]
