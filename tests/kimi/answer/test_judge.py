"""The judge: what an answer was worth (section 13)."""

from __future__ import annotations

import pytest

from moongate.chat.verdict import ABORTED, CLEAN, FAILED, REPAIRED, Verdict
from moongate.errors import BadRequest, BadUpstream
from moongate.kimi.answer.judge import ChoiceEnd, Judge, JudgedCall, is_json
from moongate.kimi.notes import Notes
from moongate.kimi.request.tool_names import MOONSHOT_NAME, UNCHANGED, ToolNames

SOUND = JudgedCall("bash", "{}")
UNKNOWN = JudgedCall("rm", "{}")
BROKEN = JudgedCall("bash", "{")


def judge(call_required: bool = False, notes: Notes | None = None, names: ToolNames = UNCHANGED) -> Judge:
    return Judge(Notes() if notes is None else notes, {"bash"}, names, "functions", call_required)


def judged(*calls: JudgedCall, reason: str | None = "stop", call_required: bool = False, **end: bool) -> Verdict:
    one = judge(call_required)
    one.choice(0, calls, ChoiceEnd(reason, **end))
    one.end()
    return one.verdict()


def damaged(*kinds: str) -> Verdict:
    return Verdict("damaged", kinds)


def test_an_answer_that_is_not_over_counts_as_aborted() -> None:
    assert judge().verdict() == ABORTED


def test_an_answer_without_choices_is_an_empty_turn() -> None:
    one = judge()
    one.end()
    assert one.verdict() == damaged("empty_turn")


def test_an_error_instead_of_the_answer() -> None:
    one = judge()
    one.fail(BadUpstream("cut"))
    assert one.verdict() == FAILED
    one = judge()
    one.fail(BadRequest("wrong"))
    assert one.verdict() == ABORTED


def test_an_error_behind_the_end_does_not_count() -> None:
    one = judge()
    one.sound_text(0)
    one.end()
    one.fail(BadUpstream("late"))
    assert one.verdict() == CLEAN


@pytest.mark.parametrize(
    ("calls", "verdict"),
    [
        ([SOUND], CLEAN),
        ([UNKNOWN], damaged("unknown_tool")),
        ([BROKEN], damaged("invalid_json")),
        ([JudgedCall("rm", "{")], damaged("invalid_json", "unknown_tool")),
        ([BROKEN, SOUND, UNKNOWN], damaged("invalid_json", "unknown_tool")),
        ([JudgedCall("bash", "*** Begin Patch", custom=True)], CLEAN),
    ],
)
def test_calls_are_judged_by_name_and_arguments(calls: list[JudgedCall], verdict: Verdict) -> None:
    assert judged(*calls) == verdict


def test_a_required_call_that_did_not_come() -> None:
    assert judged(call_required=True, has_content=True) == damaged("missing_call")
    assert judged(call_required=True) == damaged("empty_turn", "missing_call")
    assert judged(SOUND, call_required=True) == CLEAN


def test_a_turn_without_text_and_calls_is_empty() -> None:
    assert judged() == damaged("empty_turn")
    assert judged(has_content=True) == CLEAN


def test_a_cut_call_is_not_counted_as_invalid_json_too() -> None:
    assert judged(SOUND, BROKEN, truncated=True) == damaged("cut_call")
    assert judged(BROKEN, BROKEN, truncated=True) == damaged("cut_call", "invalid_json")


def test_nameless_calls_and_visible_markup() -> None:
    assert judged(SOUND, nameless=True) == damaged("nameless")
    assert judged(SOUND, leaked=True) == damaged("leaked")
    assert judged(SOUND, cut_markup=True) == damaged("leaked")


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_what_the_provider_says_that_it_cut_is_no_damage(reason: str) -> None:
    assert judged(reason=reason, call_required=True) == CLEAN
    assert judged(SOUND, BROKEN, reason=reason, truncated=True, nameless=True) == CLEAN
    assert judged(UNKNOWN, BROKEN, reason=reason) == damaged("unknown_tool")
    assert judged(reason=reason, leaked=True) == damaged("leaked")
    assert judged(reason=reason, cut_markup=True) == CLEAN


def test_with_several_choices_the_worst_counts() -> None:
    one = judge()
    one.choice(0, [SOUND], ChoiceEnd("tool_calls"))
    one.choice(1, [BROKEN], ChoiceEnd("tool_calls"))
    one.choice(2, [UNKNOWN], ChoiceEnd("tool_calls"))
    one.end()
    assert one.verdict() == damaged("invalid_json", "unknown_tool")


def test_repairs_are_notes_about_the_answer() -> None:
    notes = Notes()
    notes.add("parameter", "thinking")
    one = judge(notes=notes)
    one.sound_text(0)
    one.end()
    assert one.verdict() == CLEAN
    notes.add("empty_turn", "choices[0].message")
    notes.add("markers_seen", "choices[0].message.content")
    assert one.verdict() == CLEAN
    notes.add_for_calls("markers_parsed", 0, 0, ["a"], ["b"])
    assert one.verdict() == REPAIRED


def test_names_that_were_changed_for_the_provider_are_turned_back_without_being_repairs() -> None:
    names = ToolNames.of(["21st.magic"], MOONSHOT_NAME, set())
    sent = names.sent("21st.magic")
    notes = Notes()
    one = judge(notes=notes, names=names)
    one.sound_text(0)
    one.end()
    notes.add_for_call("tool_name", 0, 0, ".function.name", sent, "21st.magic")
    notes.add_for_call("id", 0, 0, ".id", f"functions.{sent}:0", "functions.21st.magic:0")
    assert one.verdict() == CLEAN
    notes.add_for_call("id", 0, 1, ".id", "call_1", "functions.21st.magic:1")
    assert one.verdict() == REPAIRED


def test_a_call_read_from_markup_is_a_repair_also_if_its_id_stays() -> None:
    notes = Notes()
    one = judge(notes=notes, names=ToolNames.of(["21st.magic"], MOONSHOT_NAME, set()))
    one.sound_text(0)
    one.end()
    notes.add_for_call("markers_parsed", 0, 0, "", "functions.bash:0", "functions.bash:0")
    assert one.verdict() == REPAIRED


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '"a"', "1", "null", " {} ", "123456789012345678901234567890", '"\\ud83d"']
)
def test_json_of_any_type_is_json(text: str) -> None:
    assert is_json(text)


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "NaN", "[" * 100_000])
def test_anything_else_is_not(text: str) -> None:
    assert not is_json(text)


def test_a_call_that_does_not_fit_its_schema() -> None:
    assert judged(SOUND._replace(misfit=True)) == damaged("schema_mismatch")
    assert judged(BROKEN._replace(misfit=True)) == damaged("invalid_json")
