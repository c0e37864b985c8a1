"""The notes of one exchange, stored compactly: a history or an answer may hold a hundred thousand calls, each noted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

from moongate.chat.contracts import Note, is_of_answer
from moongate.chat.note_sequences import NoteSequence, Repair

MAX_NOTES: Final = 8192  # of a request, and as many of its answer; what is repaired beyond that is not noted
_WIDTH: Final = 4  # kind, where, before, after


class Notes(NoteSequence):
    """Grows during the exchange. A `Note` object is made only when it is read."""

    __slots__ = ("_answer_start", "_entries", "_extra", "_first_run", "_room")

    def __init__(self) -> None:
        self._entries: list[Any] = []  # the fields of all notes in sequence; a run of calls is one entry
        self._first_run: int | None = None  # the position of the first entry for a run of calls
        self._extra = 0  # notes of runs beyond the first of each
        self._room = MAX_NOTES  # for so many notes
        self._answer_start = 0  # where the notes about the answer begin

    def begin_answer(self) -> int:
        """What follows is about the answer, and has room of its own. Where it begins, for `since`."""
        self._room = MAX_NOTES
        self._answer_start = len(self._entries)
        return self._answer_start

    @property
    def position(self) -> int:
        """Where the next note goes, for `since` and `entries_since`."""
        return len(self._entries)

    def add(self, kind: str, where: object, before: object = None, after: object = None) -> None:
        if self._room:
            self._room -= 1
            self._entries += (kind, where, before, after)

    def add_explained(self, note: Note) -> None:
        """A note that says why."""
        self.add(note.kind, _Explained(note.where, note.why), note.before, note.after)

    def add_for_call(self, kind: str, choice: int, call: int, member: str, before: object, after: object) -> None:
        """A note about one member of one call of the answer."""
        self.add(kind, (choice, call, member), before, after)

    def add_for_calls(
        self, kind: str, choice: int, first: int, before: Sequence[object], after: Sequence[object]
    ) -> None:
        """A note about each of some consecutive calls of the answer. `before` and `after` must not be changed later."""
        if not (noted := min(len(after), self._room)):
            return
        if self._first_run is None:
            self._first_run = len(self._entries)
        self.add(kind, (choice, first), before[:noted], after[:noted])
        self._extra += noted - 1
        self._room -= noted - 1

    def entries_since(self, position: int) -> list[Any]:
        """The notes from `position` on, for `add_entries` of another request. None of them is a run of calls."""
        return self._entries[position:]

    def add_entries(self, entries: list[Any]) -> None:
        noted = min(len(entries) // _WIDTH, self._room)
        self._room -= noted
        self._entries += entries[: noted * _WIDTH]

    def add_notes_of(self, other: Notes, position: int, *, only_of_answer: bool) -> None:
        """The notes of another request from `position` on, however many these are."""
        start = max(position, other._answer_start) if only_of_answer else position
        entries = other._entries[start:]
        if other._first_run is not None:
            for at in range(0, len(entries), _WIDTH):
                if _is_run(entries[at + 1]):
                    self._extra += len(entries[at + 3]) - 1
                    if self._first_run is None:
                        self._first_run = len(self._entries) + at
        self._entries += entries

    def repairs(self) -> dict[Repair, int]:
        found: dict[Repair, int] = {}
        entries = self._entries
        for at in range(0, len(entries), _WIDTH):
            where = entries[at + 1]
            repair = (entries[at], "vendor" if _is_of_answer(where) else "client")
            found[repair] = found.get(repair, 0) + (len(entries[at + 3]) if _is_run(where) else 1)
        return found

    def since(self, position: int) -> Iterator[tuple[str, object, object]]:
        """The kind, before and after of the notes from there on. A run of calls is one of them: its last two
        values are sequences."""
        starts = range(position, len(self._entries), _WIDTH)
        return ((self._entries[at], self._entries[at + 2], self._entries[at + 3]) for at in starts)

    def __len__(self) -> int:
        return len(self._entries) // _WIDTH + self._extra

    @overload
    def __getitem__(self, at: int) -> Note: ...

    @overload
    def __getitem__(self, at: slice) -> list[Note]: ...

    def __getitem__(self, at: int | slice) -> Note | list[Note]:
        if self._first_run is not None:
            self._expand_runs(self._first_run)
        places = range(0, len(self._entries), _WIDTH)[at]
        return self._note(places) if isinstance(places, int) else list(map(self._note, places))

    def __iter__(self) -> Iterator[Note]:
        """Over the notes so far."""
        if self._first_run is not None:
            self._expand_runs(self._first_run)
        return iter([self._note(at) for at in range(0, len(self._entries), _WIDTH)])

    def _expand_runs(self, start: int) -> None:
        """Replace each entry for a run of calls by one entry per call."""
        entries = self._entries[start:]
        del self._entries[start:]
        for at in range(0, len(entries), _WIDTH):
            kind, where, before, after = entries[at : at + _WIDTH]
            if _is_run(where):
                choice, first = where
                for call, (was, now) in enumerate(zip(before, after, strict=True), first):
                    self._entries += (kind, (choice, call, ""), was, now)
            else:
                self._entries += (kind, where, before, after)
        self._first_run, self._extra = None, 0

    def _note(self, at: int) -> Note:
        kind, where, before, after = self._entries[at : at + _WIDTH]
        if isinstance(where, tuple):
            choice, call, member = where
            where = f"choices[{choice}].message.tool_calls[{call}]{member}"
        if isinstance(where, _Explained):
            return Note(kind, where.where, before, after, where.why)
        # As `Note(…)`, without its `__new__`, which is a Python function: a long history has hundreds of notes.
        return tuple.__new__(Note, (kind, where, before, after, ""))


def _is_run(where: Any) -> bool:
    """Whether an entry with this place is for a run of calls."""
    return isinstance(where, tuple) and len(where) == 2


def _is_of_answer(where: Any) -> bool:
    """Of the place of an entry."""
    if isinstance(where, tuple):
        return True
    return is_of_answer(where.where if isinstance(where, _Explained) else where)


class _Explained:
    """The place of a note, and why."""

    __slots__ = ("where", "why")

    def __init__(self, where: str, why: str) -> None:
        self.where = where
        self.why = why
