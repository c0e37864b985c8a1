"""The notes of one exchange, kept small: a history or an answer may hold a hundred thousand calls, a note for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from moongate.chat.contracts import Note

_Kept = tuple[str, str, Any, Any] | tuple[str, int, int, str, Any, Any]


class Notes(Sequence[Note]):
    """Grows while the exchange lasts. A note is a bare tuple until somebody reads it."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: list[_Kept] = []

    def add(self, kind: str, where: str, before: Any = None, after: Any = None) -> None:
        self._kept.append((kind, where, before, after))

    def about_call(self, kind: str, choice: int, call: int, member: str, before: Any, after: Any) -> None:
        """A note about one member of one call of the answer."""
        self._kept.append((kind, choice, call, member, before, after))

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"Notes({list(self)!r})"


def _note(kept: _Kept) -> Note:
    if len(kept) == 4:
        return Note(*kept)
    kind, choice, call, member, before, after = kept
    return Note(kind, f"choices[{choice}].message.tool_calls[{call}]{member}", before, after)
