"""Native calls as they leave (section 3.7 to 3.10), streamed and whole."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import K3, PARSING, begin, call, tool

from moongate.kimi.answer import Answer
from moongate.kimi.calls import Calls

Row = dict[str, Any]


def calls_of(options: Row | None = None, **more: Any) -> tuple[Calls, Answer]:
    found = begin(options, **more)._answer
    return Calls(found, 0), found


def delta(index: Any = 0, given: Any = None, name: Any = None, arguments: Any = None, **more: Any) -> Row:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry: Row = {"function": function} if function else {}
    members = (("index", index), ("id", given))
    return {**{key: value for key, value in members if value is not None}, **entry, **more}


def kinds(answer: Answer) -> list[str]:
    return [note.kind for note in answer.notes]


# Streams


def test_good_deltas_are_the_same_objects() -> None:
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


def test_only_the_wrong_field_of_a_first_delta_changes() -> None:
    calls, answer = calls_of()
    entry = delta(0, "call_1", "bash", "", type="function", extra=1)
    assert calls.deltas([entry]) == [{**entry, "id": "functions.bash:0"}]
    assert list(answer.notes) == [("id", "choices[0].message.tool_calls[0].id", "call_1", "functions.bash:0")]


def test_an_id_and_a_type_that_are_missing_are_made_in_the_first_delta() -> None:
    calls, answer = calls_of()
    entry = delta(0, None, "bash", "")
    assert calls.deltas([entry]) == [{**entry, "id": "functions.bash:0", "type": "function"}]
    assert kinds(answer) == ["id", "stream_shape"]


def test_later_deltas_carry_no_id_and_nothing_empty_if_they_change() -> None:
    calls, answer = calls_of()
    calls.deltas([delta(0, "x", "bash", "", type="function")])
    later = {"index": 0, "id": "x", "type": "", "function": {"name": "bash", "arguments": "{"}, "extra": 1}
    assert calls.deltas([later]) == [{"index": 0, "function": {"arguments": "{"}, "extra": 1}]
    assert calls.deltas([{"index": 0, "id": "x"}]) == [{"index": 0}]
    assert kinds(answer) == ["id", "stream_shape"]


def test_a_second_name_before_arguments_is_left_out() -> None:
    calls, _ = calls_of()
    calls.deltas([delta(0, "functions.bash:0", "bash", "", type="function")])
    assert calls.deltas([delta(0, None, "read", "{")]) == [{"index": 0, "function": {"arguments": "{"}}]


def test_a_call_waits_for_its_name() -> None:
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


def test_a_call_whose_name_never_comes_leaves_at_the_end() -> None:
    calls, _ = calls_of()
    assert calls.deltas([delta(0, None, None, "1")]) == []
    (entry,) = calls.unfinished()
    assert entry["function"] == {"arguments": "1"}
    assert entry["id"] == "functions.:0"


def test_calls_without_arguments_get_an_object_at_the_end() -> None:
    calls, answer = calls_of({"assembleToolDeltas": True})
    for at, arguments in enumerate((None, "", "{ }")):
        calls.deltas([delta(at, f"functions.bash:{at}", "bash", arguments, type="function")])
    assert calls.unfinished() == [{"index": at, "function": {"arguments": "{}"}} for at in (0, 1)]
    assert kinds(answer) == ["arguments", "arguments"]
    assert [each.arguments for each in calls.all] == ["{}", "{}", "{ }"]


def test_an_index_used_again_gets_the_next_one() -> None:
    calls, answer = calls_of()
    first = delta(0, "functions.bash:0", "bash", "{}", type="function")
    second = delta(0, "functions.bash:1", "bash", "{", type="function")
    assert calls.deltas([first, second]) == [first, {**second, "index": 1}]
    assert calls.deltas([delta(0, None, None, "}")]) == [{"index": 1, "function": {"arguments": "}"}}]
    third = delta(1, "functions.bash:2", "bash", "{}", type="function")
    assert calls.deltas([third]) == [{**third, "index": 2}]
    assert kinds(answer)[0] == "stream_shape"


def test_an_index_is_added_where_it_is_missing_and_a_sparse_one_stays() -> None:
    calls, _ = calls_of()
    sparse = [delta(42, "functions.bash:0", "bash", "{}", type="function")]
    assert calls.deltas(sparse) is sparse
    assert calls.deltas([delta(None, "functions.bash:1", "bash", "{", type="function")])[0]["index"] == 43
    assert calls.deltas([delta(None, None, None, "}")]) == [{"index": 43, "function": {"arguments": "}"}}]
    low = [delta(7, "functions.bash:2", "bash", "{}", type="function")]
    assert calls.deltas(low) is low
    assert calls.open("", "bash").index == 44


def test_arguments_that_are_an_object_become_text() -> None:
    calls, _ = calls_of()
    entry = delta(0, "functions.bash:0", "bash", {"a": [1]}, type="function")
    assert calls.deltas([entry])[0]["function"] == {"name": "bash", "arguments": '{"a":[1]}'}
    assert calls.deltas([delta(0, None, None, {})])[0]["function"] == {"arguments": "{}"}


def test_a_disguised_name_is_made_plain_in_a_stream_too() -> None:
    calls, answer = calls_of()
    entry = delta(0, "functions.bash:3", "functions.bash:3", "{}", type="function")
    assert calls.deltas([entry]) == [{**entry, "function": {"name": "bash", "arguments": "{}"}}]
    assert kinds(answer) == ["tool_name"]


def test_with_section_3_off_deltas_stay_as_they_are() -> None:
    calls, _ = calls_of({"repairOnMismatch": False, "enforceFinishReasonLoop": False, "assembleToolDeltas": True})
    for entries in (
        [delta(None, None, None, {"a": 1})],
        [delta(None, "x", "functions.bash", "")],
        [{"index": 0, "id": "x", "type": None, "function": {"name": ""}}],
    ):
        assert calls.deltas(entries) is entries
    assert calls.unfinished() == []
    assert [each.told() for each in calls.all] == [
        {"id": "x", "type": "function", "function": {"name": "functions.bash", "arguments": '{"a":1}'}},
        {"id": "x", "type": "function", "function": {"name": "", "arguments": ""}},
    ]


def test_an_index_is_given_even_with_section_3_off() -> None:
    calls, _ = calls_of({"repairOnMismatch": False})
    assert calls.deltas([delta(None, "x", "functions.bash", None)]) == [{**delta(0, "x", "functions.bash", None)}]
    assert calls.deltas([delta(None, None, None, "{}")]) == [{"index": 0, "function": {"arguments": "{}"}}]
    assert calls.deltas(["odd", delta(None, "y", "bash", "")]) == ["odd", delta(1, "y", "bash", "")]
    assert calls.unfinished() == []


def test_with_markers_on_indexes_are_kept_apart_even_with_section_3_off() -> None:
    calls, _ = calls_of({"repairOnMismatch": False, **PARSING})
    assert calls.open("bash:4", "bash").index == 0
    entry = delta(0, "x", "bash", "", type="function")
    assert calls.deltas([entry]) == [{**entry, "index": 1}]
    later = delta(0, "x", "bash", "{}", type=None)
    assert calls.deltas([later]) == [{"index": 1, "id": "x", "function": {"name": "bash", "arguments": "{}"}}]


def test_nothing_is_looked_at_if_nothing_could_be_done() -> None:
    calls, _ = calls_of({"repairOnMismatch": False})
    entries = [delta(0, "x", "bash", {})]
    assert calls.deltas(entries) is entries
    assert calls.whole(entries) is entries
    assert calls.all == []


# Whole answers


def whole(entries: list[Any], options: Row | None = None, **more: Any) -> tuple[list[Any], list[str]]:
    calls, answer = calls_of(options, **more)
    return calls.whole(entries), kinds(answer)


@pytest.mark.parametrize("options", [None, PARSING, {"repairArguments": True}])
def test_good_calls_are_the_same_objects(options: Row | None) -> None:
    entries = [call("functions.bash:0"), "odd", call("functions.read:7", "read")]
    left, notes = whole(entries, options)
    assert left is entries
    assert notes == []


@pytest.mark.parametrize("options", [None, PARSING])
def test_bad_ids_of_a_whole_answer(options: Row | None) -> None:
    left, notes = whole([call("x", extra=1), call(None, "read"), call("functions.bash:0")], options)
    assert [each["id"] for each in left] == ["functions.bash:0", "functions.read:1", "functions.bash:2"]
    assert left[0]["extra"] == 1
    assert notes == ["id", "id", "id"]


@pytest.mark.parametrize(("arguments", "text"), [(None, "{}"), ("", "{}"), ({}, "{}"), ({"a": 1}, '{"a":1}'), (0, "0")])
def test_arguments_of_the_wrong_type_in_a_whole_answer(arguments: Any, text: str) -> None:
    left, notes = whole([call("functions.bash:0", "bash", arguments)])
    assert left[0]["function"]["arguments"] == text
    assert set(notes) == {"arguments"}


def test_missing_members_in_a_whole_answer() -> None:
    left, notes = whole([{"id": "functions.bash:0", "function": {"name": "bash"}}, {"function": None}, {}])
    assert left[0] == call("functions.bash:0")
    assert left[1] == {"id": "functions.:1", "type": "function", "function": {"arguments": "{}"}}
    assert left[2]["id"] == "functions.:2"
    assert set(notes) == {"id", "arguments", "stream_shape"}


def test_a_disguised_name_in_a_whole_answer() -> None:
    left, notes = whole([call("functions.bash:0", "functions_bash_3")])
    assert left == [call("functions.bash:0")]
    assert notes == ["tool_name"]


def test_arguments_of_whole_answers_are_mended_if_asked_for() -> None:
    entries = [call("functions.bash:0", "bash", '{"command": "a\nb"}')]
    assert whole(entries)[0] is entries
    left, notes = whole(entries, {"repairArguments": True})
    assert left[0]["function"]["arguments"] == '{"command": "a\\nb"}'
    assert notes == ["arguments"]
    left, notes = whole(entries, {"repairArguments": True, "repairOnMismatch": False})
    assert notes == ["arguments"]
    odd = [call("functions.bash:0", "bash", {"a": 1})]
    assert whole(odd, {"repairArguments": True, "repairOnMismatch": False})[0] is odd


def test_k3_keeps_ids_of_any_form() -> None:
    entries = [call("a"), call("b")]
    assert whole(entries, model=K3)[0] is entries
    left, _ = whole([call("a"), call("a"), call("")], model=K3)
    assert [each["id"] for each in left] == ["a", "bash_1", "bash_2"]


# Names that the host refused

RENAMED: Row = {"messages": [{"role": "user", "content": "Go."}], "tools": [tool("21st.magic", "q")]}


@pytest.mark.parametrize("options", [{}, {"repairOnMismatch": False}])
def test_renamed_tools_are_turned_back(options: Row) -> None:
    more: Row = {"request": RENAMED, "model": "kimi-k2-0905-preview", "base_url": "https://api.moonshot.ai/v1"}
    calls, answer = calls_of(options, **more)
    sent = answer.names.sent("21st.magic")
    assert sent != "21st.magic"
    given = f"functions.{sent}:0"
    entry = delta(0, given, sent, "", type="function")
    shown = {**entry, "id": "functions.21st.magic:0", "function": {"name": "21st.magic", "arguments": ""}}
    assert calls.deltas([entry]) == [shown]
    assert calls.deltas([delta(0, None, sent, "{}")]) == [{"index": 0, "function": {"arguments": "{}"}}]
    left, _ = whole([call(given, sent)], options, **more)
    assert left == [call("functions.21st.magic:0", "21st.magic")]


def test_a_sent_name_in_disguise_is_turned_back_too() -> None:
    more: Row = {"request": RENAMED, "model": "kimi-k2-0905-preview", "base_url": "https://api.moonshot.ai/v1"}
    _, answer = calls_of(**more)
    disguised = f"functions.{answer.names.sent('21st.magic')}:0"
    left, _ = whole([call(disguised, disguised)], **more)
    assert left == [call("functions.21st.magic:0", "21st.magic")]


# Markers


def test_calls_read_from_markers_claim_their_ids_and_places() -> None:
    calls, answer = calls_of(PARSING)
    assert not calls.beside
    first, second = calls.open("functions.bash:0", "bash"), calls.open("bash:4", "bash")
    assert [(each.index, each.id, each.shown) for each in (first, second)] == [
        (0, "functions.bash:0", "bash"),
        (1, "functions.bash:1", "bash"),
    ]
    assert list(calls.opened([("", "time", "{}"), ("functions.bash:9", "bash", '{"a":1}')])) == [
        (2, "functions.time:2", "time", "{}"),
        (3, "functions.bash:9", "bash", '{"a":1}'),
    ]
    assert calls.open("", "bash").index == 4
    assert [(note.kind, note.where) for note in answer.notes] == [
        ("markers_parsed", f"choices[0].message.tool_calls[{at}]") for at in range(5)
    ]
    assert calls.all == []


def test_they_are_kept_where_they_are_assembled() -> None:
    calls, _ = calls_of({**PARSING, "assembleToolDeltas": True})
    calls.open("", "bash").parts.append("{")
    told = [(1, "functions.bash:7", "bash", "{}"), (2, "functions.time:8", "time", "[]")]
    assert list(calls.opened([("functions.bash:7", "bash", "{}"), ("", "time", "[]")])) == told
    assert [each.told() for each in calls.all] == [
        call("functions.bash:0", "bash", "{"),
        call("functions.bash:7", "bash", "{}"),
        call("functions.time:8", "time", "[]"),
    ]


def test_a_grammar_without_ids_gets_some_even_with_section_3_off() -> None:
    calls, _ = calls_of({**PARSING, "repairOnMismatch": False}, model=K3)
    assert calls.open("", "bash").id == "bash_0"


def test_native_calls_are_remembered_for_markers() -> None:
    calls, _ = calls_of(PARSING)
    assert not calls.may_repeat("bash")
    assert not calls.repeats("bash", "{}")
    calls.deltas([delta(0, "functions.bash:0", "bash", '{"a": ', type="function")])
    assert calls.may_repeat("bash")
    assert not calls.repeats("bash", '{"a": 1}')
    calls.deltas([delta(0, None, None, "1}")])
    assert calls.repeats("bash", '{"a":1}')
    assert not calls.may_repeat("read")
    calls, _ = calls_of(PARSING)
    calls.whole([call("x", "bash", '{"a": 1}')])
    assert calls.repeats("bash", '{"a":1}')


def test_calls_read_from_markers_keep_their_ids_where_nobody_makes_any() -> None:
    calls, _ = calls_of({"repairOnMismatch": False, **PARSING})
    assert list(calls.opened([("bash:4", "bash", "{}"), ("", "time", "{}")])) == [
        (0, "bash:4", "bash", "{}"),
        (1, "time_1", "time", "{}"),
    ]


def test_calls_read_from_markers_have_the_names_that_the_client_knows() -> None:
    calls, answer = calls_of({"schemaRules": "always", **PARSING}, request=RENAMED)
    sent = answer.names.sent("21st.magic")
    assert list(calls.opened([(f"functions.{sent}:0", sent, "{}"), ("", "time", "{}")])) == [
        (0, "functions.21st.magic:0", "21st.magic", "{}"),
        (1, "functions.time:1", "time", "{}"),
    ]
    assert [note.before for note in answer.notes if note.kind == "markers_parsed"] == [f"functions.{sent}:0", ""]
