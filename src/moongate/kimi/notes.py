"""The notes of one exchange, kept small: an answer may hold a hundred thousand calls, and each leaves one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

from moongate.chat.contracts import Note

_AboutCall = tuple[str, int, int, str, Any, Any]  # kind, choice, call, member, before, after


class Notes(Sequence[Note]):
    """Grows while the exchange lasts. A note about a call is a bare tuple until somebody reads it."""

    __slots__ = ("_kept",)

    def __init__(self, notes: Iterable[Note] = ()) -> None:
        self._kept: list[Note | _AboutCall] = list(notes)

    def append(self, note: Note) -> None:
        self._kept.append(note)

    def about_call(self, about: _AboutCall) -> None:
        """A note about one member of one call."""
        self._kept.append(about)

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, at: int) -> Note: ...

    @overload
    def __getitem__(self, at: slice) -> list[Note]: ...

    def __getitem__(self, at: int | slice) -> Note | list[Note]:
        if isinstance(at, slice):
            return [_note(kept) for kept in self._kept[at]]
        return _note(self._kept[at])


def _note(kept: Note | _AboutCall) -> Note:
    if isinstance(kept, Note):
        return kept
    kind, choice, call, member, before, after = kept
    return Note(kind, f"choices[{choice}].message.tool_calls[{call}]{member}", before, after)
