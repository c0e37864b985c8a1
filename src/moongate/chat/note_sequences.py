"""Sequences of notes that are joined and counted without an object for each: an answer may have thousands. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias, overload

from moongate.chat.contracts import Note

Repair: TypeAlias = tuple[str, str]  # the kind of a note, and whose work it mends


class NoteSequence(Sequence[Note]):
    """Notes that are cheap to count. Equal to any sequence of the same notes."""

    __slots__ = ()

    def repairs(self) -> dict[Repair, int]:
        """How many notes there are of each kind."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it may grow

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"


class JoinedNotes(NoteSequence):
    """The notes of several sequences, one after the other."""

    __slots__ = ("_parts",)

    def __init__(self, parts: Iterable[Iterable[Note]]) -> None:
        self._parts = [part if isinstance(part, Sequence) else list(part) for part in parts]

    def repairs(self) -> dict[Repair, int]:
        found: dict[Repair, int] = {}
        for part in self._parts:
            for repair, number in count_repairs(part).items():
                found[repair] = found.get(repair, 0) + number
        return found

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[Note]:
        return chain.from_iterable(self._parts)

    @overload
    def __getitem__(self, at: int) -> Note: ...

    @overload
    def __getitem__(self, at: slice) -> list[Note]: ...

    def __getitem__(self, at: int | slice) -> Note | list[Note]:
        if isinstance(at, int):
            return list(self)[at]
        start, stop, step = at.indices(len(self))
        if step != 1:
            return list(self)[at]
        found: list[Note] = []
        for part in self._parts:  # no more of each than is asked for
            if start < len(part) and stop > 0:
                found += part[start : max(0, stop)]
            start, stop = max(0, start - len(part)), stop - len(part)
        return found


def joined_notes(first: Sequence[Note], *more: Sequence[Note]) -> Sequence[Note]:
    """The first sequence, and those of the others that have notes now."""
    added = [each for each in more if each]
    return JoinedNotes((first, *added)) if added else first


def count_repairs(notes: Sequence[Any]) -> dict[Repair, int]:
    """How many notes there are of each kind. Those of a transformer from outside may be of any class with a `kind`."""
    if isinstance(notes, NoteSequence):
        return notes.repairs()
    found: dict[Repair, int] = {}
    for note in notes:
        repair = (note.kind, note.mends if isinstance(note, Note) else "vendor")
        found[repair] = found.get(repair, 0) + 1
    return found
