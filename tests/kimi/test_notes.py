"""Notes are kept small, and read as what they are."""

from __future__ import annotations

import pytest

from moongate.chat.contracts import Note
from moongate.kimi.notes import Notes


def test_notes_grow_and_are_read_as_a_sequence() -> None:
    notes = Notes()
    assert not notes
    notes.add("parameter", "thinking", 1)
    notes.about_call("id", 2, 7, ".id", "x", "functions.bash:7")
    notes.add("usage", "usage")
    assert len(notes) == 3
    assert notes[0] == Note("parameter", "thinking", 1, None)
    assert notes[-2] == Note("id", "choices[2].message.tool_calls[7].id", "x", "functions.bash:7")
    assert [note.kind for note in notes] == ["parameter", "id", "usage"]
    assert notes[1:] == list(notes)[1:]
    with pytest.raises(IndexError):
        notes[3]


def test_they_are_equal_to_any_sequence_of_the_same() -> None:
    notes = Notes()
    notes.add("usage", "usage")
    assert notes == [Note("usage", "usage")]
    assert notes != []
    assert notes != 1
    assert repr(notes) == "Notes([Note(kind='usage', where='usage', before=None, after=None)])"
    with pytest.raises(TypeError):
        hash(notes)
