"""Notes are joined and counted without an object for each."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from moongate.chat.contracts import Note
from moongate.chat.note_sequences import JoinedNotes, NoteSequence, count_repairs, joined_notes

USAGE, PARAMETER, ID = Note("usage", "usage"), Note("parameter", "thinking"), Note("id", "choices[0].message")
NOTES = [USAGE, PARAMETER, ID, USAGE, PARAMETER]


def test_notes_are_counted_by_kind_and_by_whose_work_they_mend() -> None:
    assert count_repairs(NOTES) == {("usage", "vendor"): 2, ("parameter", "client"): 2, ("id", "vendor"): 1}
    assert count_repairs([]) == {}
    assert count_repairs([SimpleNamespace(kind="own")]) == {("own", "vendor"): 1}


def test_joined_notes_are_counted_together() -> None:
    joined = JoinedNotes((NOTES[:2], JoinedNotes([NOTES[2:]])))
    assert count_repairs(joined) == count_repairs(NOTES)


def test_joined_notes_are_read_as_one_sequence() -> None:
    joined = JoinedNotes((NOTES[:2], [], iter(NOTES[2:3]), NOTES[3:]))
    assert len(joined) == len(NOTES)
    assert joined == NOTES
    assert joined != NOTES[1:]
    assert joined != 1
    assert repr(joined) == f"JoinedNotes({NOTES!r})"
    assert [joined[at] for at in range(-5, 5)] == NOTES * 2
    with pytest.raises(IndexError):
        joined[5]
    with pytest.raises(TypeError):
        hash(joined)
    ends = (None, *range(-7, 8))
    for start in ends:
        for stop in ends:
            assert joined[start:stop] == NOTES[start:stop]
            assert joined[start:stop:-2] == NOTES[start:stop:-2]


def test_joined_notes_show_what_is_added_later() -> None:
    growing = [USAGE]
    joined = JoinedNotes((growing, [ID]))
    growing.append(PARAMETER)
    assert joined == [USAGE, PARAMETER, ID]


def test_only_sequences_that_have_notes_are_joined() -> None:
    assert joined_notes(NOTES, [], ()) is NOTES
    assert joined_notes([USAGE], [], [ID], (PARAMETER,)) == [USAGE, ID, PARAMETER]


def test_a_sequence_that_cannot_be_counted_says_so() -> None:
    with pytest.raises(NotImplementedError):
        NoteSequence.repairs(JoinedNotes(()))
