"""The notes of one exchange, kept small: a history or an answer may hold a hundred thousand calls, a note for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from moongate.chat.contracts import Note

_Kept = tuple[str, str, Any, Any] | tuple[str, int, int, str, Any, Any]
_Run = tuple[str, int, int, Sequence[Any], Sequence[Any]]


class Notes(Sequence[Note]):
    """Grows while the exchange lasts. Until somebody reads it, a note is a bare tuple: one for a whole run of calls."""

    __slots__ = ("_first_run", "_kept", "_more")

    def __init__(self) -> None:
        self._kept: list[_Kept | _Run] = []
        self._first_run: int | None = None  # where the first run stands that nobody has read
        self._more = 0  # so many notes does `_kept` stand for beyond its length

    def add(self, kind: str, where: str, before: Any = None, after: Any = None) -> None:
        self._kept.append((kind, where, before, after))

    def about_call(self, kind: str, choice: int, call: int, member: str, before: Any, after: Any) -> None:
        """A note about one member of one call of the answer."""
        self._kept.append((kind, choice, call, member, before, after))

    def about_calls(
        self, kind: str, choice: int, first: int, before: Sequence[object], after: Sequence[object]
    ) -> None:
        """A note about each of some calls of the answer, one after the other. Nobody changes `before` and `after`."""
        if self._first_run is None:
            self._first_run = len(self._kept)
        self._kept.append((kind, choice, first, before, after))
        self._more += len(after) - 1

    def __len__(self) -> int:
        return len(self._kept) + self._more

    @overload
    def __getitem__(self, at: int) -> Note: ...

    @overload
    def __getitem__(self, at: slice) -> list[Note]: ...

    def __getitem__(self, at: int | slice) -> Note | list[Note]:
        if self._first_run is not None:
            self._spread(self._first_run)
        found = self._kept[at]
        return list(map(_note, found)) if isinstance(found, list) else _note(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"Notes({list(self)!r})"

    def _spread(self, start: int) -> None:
        """From here on, each note on its own."""
        kept = self._kept[start:]
        del self._kept[start:]
        for each in kept:
            if len(each) == 5:
                kind, choice, first, before, after = each
                calls = enumerate(zip(before, after, strict=True), first)
                self._kept += [(kind, choice, call, "", was, now) for call, (was, now) in calls]
            else:
                self._kept.append(each)
        self._first_run, self._more = None, 0


def _note(kept: _Kept | _Run) -> Note:
    if len(kept) == 4:
        return Note(*kept)
    assert len(kept) == 6  # runs are spread before
    kind, choice, call, member, before, after = kept
    return Note(kind, f"choices[{choice}].message.tool_calls[{call}]{member}", before, after)
