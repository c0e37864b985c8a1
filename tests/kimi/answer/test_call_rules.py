"""Names, ids and indexes of calls."""

from __future__ import annotations

import pytest
from tests.kimi.answering import K3, PARSING, call, kinds
from tests.kimi.call_entries import RENAMED, Row, calls_of, delta, whole

from moongate.chat.contracts import Note
from moongate.kimi.answer.judge import JudgedCall
from moongate.kimi.markers.piece_builder import NAMELESS


def test_only_the_wrong_field_of_a_first_delta_changes() -> None:
    calls, answer = calls_of()
    entry = delta(0, "call_1", "bash", "", type="function", extra=1)
    assert calls.deltas([entry]) == [{**entry, "id": "functions.bash:0"}]
    assert list(answer.notes) == [Note("id", "choices[0].message.tool_calls[0].id", "call_1", "functions.bash:0")]


def test_a_missing_id_and_type_are_added_to_the_first_delta() -> None:
    calls, answer = calls_of()
    entry = delta(0, None, "bash", "")
    assert calls.deltas([entry]) == [{**entry, "id": "functions.bash:0", "type": "function"}]
    assert kinds(answer) == ["id", "stream_shape"]


def test_a_repeated_index_becomes_the_next_free_one() -> None:
    calls, answer = calls_of()
    first = delta(0, "functions.bash:0", "bash", "{}", type="function")
    second = delta(0, "functions.bash:1", "bash", "{", type="function")
    assert calls.deltas([first, second]) == [first, {**second, "index": 1}]
    assert calls.deltas([delta(0, None, None, "}")]) == [{"index": 1, "function": {"arguments": "}"}}]
    third = delta(1, "functions.bash:2", "bash", "{}", type="function")
    assert calls.deltas([third]) == [{**third, "index": 2}]
    assert kinds(answer)[0] == "stream_shape"


def test_a_missing_index_is_added_and_a_sparse_one_kept() -> None:
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


def test_an_id_in_place_of_the_name_becomes_the_name_in_a_stream() -> None:
    calls, answer = calls_of()
    entry = delta(0, "functions.bash:3", "functions.bash:3", "{}", type="function")
    assert calls.deltas([entry]) == [{**entry, "function": {"name": "bash", "arguments": "{}"}}]
    assert kinds(answer) == ["tool_name"]


def test_arguments_of_a_whole_call_are_there_and_repaired_if_the_option_says_so() -> None:
    entries = [call(arguments=""), call("functions.bash:1", arguments='{"a":"\n"}')]
    assert [each["function"]["arguments"] for each in whole(entries)[0]] == ["{}", '{"a":"\n"}']
    left, notes = whole(entries, {"repairArguments": True})
    assert [each["function"]["arguments"] for each in left] == ["{}", '{"a":"\\n"}']
    assert notes == ["arguments"] * 2


def test_with_id_repair_off_deltas_are_unchanged() -> None:
    calls, _ = calls_of({"repairOnMismatch": False, "enforceFinishReasonLoop": False, "assembleToolDeltas": True})
    for entries in (
        [delta(None, None, None, {"a": 1})],
        [delta(None, "x", "functions.bash", "")],
        [{"index": 0, "id": "x", "type": None, "function": {"name": ""}}],
    ):
        assert calls.deltas(entries) is entries
    assert calls.unfinished() == []
    assert [each.rendered() for each in calls.all] == [
        {"id": "x", "type": "function", "function": {"name": "functions.bash", "arguments": '{"a":1}'}},
        {"id": "x", "type": "function", "function": {"name": "", "arguments": ""}},
    ]


def test_an_id_in_place_of_the_name_becomes_the_name_in_a_whole_answer() -> None:
    left, notes = whole([call("functions.bash:0", "functions_bash_3")])
    assert left == [call("functions.bash:0")]
    assert notes == ["tool_name"]


def test_k3_keeps_ids_of_any_form() -> None:
    entries = [call("a"), call("b")]
    assert whole(entries, model=K3)[0] is entries
    left, _ = whole([call("a"), call("a"), call("")], model=K3)
    assert [each["id"] for each in left] == ["a", "bash_1", "bash_2"]


@pytest.mark.parametrize("options", [{}, {"repairOnMismatch": False}])
def test_renamed_tools_get_their_original_names(options: Row) -> None:
    calls, answer = calls_of(options, **RENAMED)
    sent = answer.names.sent("21st.magic")
    assert sent != "21st.magic"
    original_id = f"functions.{sent}:0"
    entry = delta(0, original_id, sent, "", type="function")
    shown = {**entry, "id": "functions.21st.magic:0", "function": {"name": "21st.magic", "arguments": ""}}
    assert calls.deltas([entry]) == [shown]
    assert calls.deltas([delta(0, None, sent, "{}")]) == [{"index": 0, "function": {"arguments": "{}"}}]
    left, _ = whole([call(original_id, sent)], options, **RENAMED)
    assert left == [call("functions.21st.magic:0", "21st.magic")]


def test_an_id_with_the_sent_name_becomes_the_original_name() -> None:
    _, answer = calls_of(**RENAMED)
    id_as_name = f"functions.{answer.names.sent('21st.magic')}:0"
    left, _ = whole([call(id_as_name, id_as_name)], **RENAMED)
    assert left == [call("functions.21st.magic:0", "21st.magic")]


def test_the_calls_that_the_client_got_are_judged_in_order() -> None:
    calls, _ = calls_of(PARSING)
    calls.deltas([delta(0, "x", "bash", '{"a"', type="function"), delta(None, "y", "bash", "{}", type="custom")])
    calls.emit_whole([("functions.read:7", "read", "[]")])
    calls.deltas([delta(0, None, None, ":1}")])
    calls.emitted.append({"type": "custom", "custom": {"name": "patch", "input": "*"}})
    assert list(calls.judged()) == [
        JudgedCall("bash", '{"a":1}'),
        JudgedCall("bash", "{}"),
        JudgedCall("read", "[]"),
        JudgedCall("patch", "*", custom=True),
    ]


def test_a_name_that_may_be_the_beginning_of_an_offered_one_waits() -> None:
    calls, _ = calls_of()
    assert calls.deltas([delta(0, "x", "ba", "", type="function")]) == []


@pytest.mark.parametrize(
    ("name", "waits"),
    [("fun", True), ("functions.ba", True), ("functions.bash", False), ("bash", False), ("other", False)],
)
def test_a_name_that_may_be_the_beginning_of_an_id_waits(name: str, waits: bool) -> None:
    calls, _ = calls_of()
    assert (calls.deltas([delta(0, "x", name, "", type="function")]) == []) is waits


def test_a_call_without_a_name_is_dropped_and_noted() -> None:
    calls, answer = calls_of()
    assert not calls.nameless
    calls.drop_nameless("x")
    assert calls.nameless
    assert list(answer.notes) == [Note("call_dropped", "choices[0].message.tool_calls", "x", NAMELESS)]
