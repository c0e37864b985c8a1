"""Notes are kept small, and read as what they are."""

from __future__ import annotations

import pytest

from moongate.chat.contracts import Note
from moongate.kimi.notes import Notes


def test_notes_grow_and_are_read_as_a_sequence() -> None:
    first = Note("parameter", "thinking", 1, None)
    notes = Notes([first])
    notes.about_call(("id", 2, 7, ".id", "x", "functions.bash:7"))
    notes.append(Note("usage", "usage"))
    assert len(notes) == 3
    assert notes[0] is first
    assert notes[1] == Note("id", "choices[2].message.tool_calls[7].id", "x", "functions.bash:7")
    assert [note.kind for note in notes] == ["parameter", "id", "usage"]
    assert notes[1:] == list(notes)[1:]
    with pytest.raises(IndexError):
        notes[3]


def test_none_at_first_and_nobody_elses() -> None:
    given = [Note("usage", "usage")]
    notes = Notes(given)
    given.clear()
    assert notes
    assert not Notes()
