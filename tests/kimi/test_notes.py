"""Notes are kept small, and read as what they are."""

from __future__ import annotations

import pytest

from moongate.chat.contracts import Note
from moongate.chat.note_sequences import count_repairs
from moongate.kimi.notes import MAX_NOTES, Notes


def test_notes_grow_and_are_read_as_a_sequence() -> None:
    notes = Notes()
    assert not notes
    notes.add("parameter", "thinking", 1)
    notes.add_for_call("id", 2, 7, ".id", "x", "functions.bash:7")
    notes.add("usage", "usage")
    assert len(notes) == 3
    assert notes[0] == Note("parameter", "thinking", 1, None)
    assert notes[-2] == Note("id", "choices[2].message.tool_calls[7].id", "x", "functions.bash:7")
    assert [note.kind for note in notes] == ["parameter", "id", "usage"]
    assert notes[1:] == list(notes)[1:]
    with pytest.raises(IndexError):
        notes[3]


def test_notes_about_a_run_of_calls_are_read_one_by_one() -> None:
    notes, singly = Notes(), Notes()
    for first in (0, 3):
        notes.add("usage", "usage")
        notes.add_for_calls("markers_parsed", 2, first, ["a", "b", "c"], ["x", "y", "z"])
        notes.add("empty_turn", "choices[0]")
        notes.add_for_calls("markers_parsed", 2, first + 3, ["d"], ["w"])
        singly.add("usage", "usage")
        for at, before, after in zip(range(first, first + 3), "abc", "xyz", strict=True):
            singly.add_for_call("markers_parsed", 2, at, "", before, after)
        singly.add("empty_turn", "choices[0]")
        singly.add_for_call("markers_parsed", 2, first + 3, "", "d", "w")
        assert len(notes) == len(singly)
        assert notes[-1] == singly[-1]
        assert notes == singly


def test_notes_about_a_run_of_calls_are_read_in_order() -> None:
    notes = Notes()
    notes.add_for_calls("markers_parsed", 0, 0, ["a", "b"], ["x", "y"])
    notes.add("usage", "usage")
    assert [note.after for note in notes] == ["x", "y", None]


def test_notes_equal_any_sequence_of_the_same_notes() -> None:
    notes = Notes()
    notes.add("usage", "usage")
    assert notes == [Note("usage", "usage")]
    assert notes != []
    assert notes != 1
    assert repr(notes) == "Notes([Note(kind='usage', where='usage', before=None, after=None, why='')])"
    with pytest.raises(TypeError):
        hash(notes)


def test_notes_since_a_position() -> None:
    notes = Notes()
    notes.add("parameter", "thinking", 1)
    position = notes.begin_answer()
    assert list(notes.since(position)) == []
    notes.add_for_call("id", 0, 0, ".id", "x", "y")
    notes.add_for_calls("markers_parsed", 0, 0, ["a"], ["b"])
    assert list(notes.since(position)) == [("id", "x", "y"), ("markers_parsed", ["a"], ["b"])]


def test_a_note_may_say_why() -> None:
    notes = Notes()
    note = Note("guard", "choices[0].message.tool_calls[0].function.name", "Read", "read", "it differs only in case")
    notes.add_explained(note)
    assert list(notes) == [note]


def test_notes_of_another_request_are_added() -> None:
    first, second = Notes(), Notes()
    first.add("schema", "tools[0]", 1, 2)
    position = first.position
    first.add("schema", "tools[1]", 3, 4)
    second.add_entries(first.entries_since(position))
    assert list(second) == [Note("schema", "tools[1]", 3, 4)]


def test_a_request_and_its_answer_have_room_for_a_number_of_notes_each() -> None:
    notes = Notes()
    for at in range(MAX_NOTES + 5):
        notes.add("history_id", f"messages[{at}]")
    start = notes.begin_answer()
    notes.add_for_calls("markers_parsed", 0, 0, ["a"] * (MAX_NOTES - 1), ["b"] * (MAX_NOTES - 1))
    notes.add_for_calls("markers_parsed", 0, MAX_NOTES - 1, ["a", "a"], ["b", "b"])
    notes.add_for_calls("markers_parsed", 0, MAX_NOTES + 1, ["a"], ["b"])
    notes.add("usage", "usage")
    assert len(notes) == len(list(notes)) == 2 * MAX_NOTES
    assert list(notes.since(start))[-1][0] == "markers_parsed"


def all_forms() -> Notes:
    """Notes of the request and of the answer, in every form in which they are stored."""
    notes = Notes()
    notes.add("parameter", "thinking", 1)
    notes.begin_answer()
    notes.add_for_calls("markers_parsed", 0, 0, ["a", "b", "c"], ["x", "y", "z"])
    notes.add_for_call("id", 2, 7, ".id", "x", "y")
    notes.add_explained(Note("guard", "choices[0].message", 1, 2, "it is near"))
    notes.add_explained(Note("guard", "tools[0]", 1, 2, "it is near"))
    notes.add("usage", "usage")
    return notes


def test_notes_are_counted_without_an_object_for_each() -> None:
    notes = all_forms()
    counted = count_repairs(notes)
    assert counted == count_repairs(list(notes))  # this expands the run
    assert counted == count_repairs(notes)
    assert counted["markers_parsed", "vendor"] == 3


@pytest.mark.parametrize("known", [0, 1, 3])
def test_notes_of_another_answer(known: int) -> None:
    position = 4 * known
    notes, of_answer = Notes(), Notes()
    for _ in range(2):
        for each in (notes, of_answer):
            each.add_for_call("id", 0, 0, ".id", "x", "y")
        notes.add_notes_of(all_forms(), position, only_of_answer=False)
        of_answer.add_notes_of(all_forms(), position, only_of_answer=True)
    first, everything = Note("id", "choices[0].message.tool_calls[0].id", "x", "y"), list(all_forms())
    left = everything[known if known < 2 else known + 2 :]  # the second entry is a run of three
    assert (len(notes), notes.repairs()) == (2 + 2 * len(left), count_repairs([first, *left] * 2))
    assert notes == [first, *left] * 2
    assert of_answer == [first, *(note for note in left if note.kind != "parameter")] * 2


def test_there_is_room_for_all_notes_of_other_answers() -> None:
    other, notes = Notes(), Notes()
    for _ in range(MAX_NOTES):
        other.add("usage", "usage")
    for _ in range(2):
        notes.add_notes_of(other, 0, only_of_answer=True)
    assert len(notes) == 2 * MAX_NOTES
