"""The notes of one exchange, kept small: a history or an answer may hold a hundred thousand calls, a note for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

from moongate.chat.contracts import Note

_WIDTH: Final = 4  # kind, where, before, after


class Notes(Sequence[Note]):
    """Grows while the exchange lasts. Until somebody reads it, a note is no object of its own."""

    __slots__ = ("_first_run", "_kept", "_more")

    def __init__(self) -> None:
        self._kept: list[Any] = []  # what the notes say, one behind the other; notes on a run of calls as one
        self._first_run: int | None = None  # where the first run stands that nobody has read
        self._more = 0  # notes of runs, beyond one for each

    def add(self, kind: str, where: str, before: Any = None, after: Any = None) -> None:
        self._kept += (kind, where, before, after)

    def about_call(self, kind: str, choice: int, call: int, member: str, before: Any, after: Any) -> None:
        """A note about one member of one call of the answer."""
        self._kept += (kind, (choice, call, member), before, after)

    def about_calls(
        self, kind: str, choice: int, first: int, before: Sequence[object], after: Sequence[object]
    ) -> None:
        """A note about each of some calls of the answer, one after the other. Nobody changes `before` and `after`."""
        if self._first_run is None:
            self._first_run = len(self._kept)
        self._kept += (kind, (choice, first), before, after)
        self._more += len(after) - 1

    def __len__(self) -> int:
        return len(self._kept) // _WIDTH + self._more

    @overload
    def __getitem__(self, at: int) -> Note: ...

    @overload
    def __getitem__(self, at: slice) -> list[Note]: ...

    def __getitem__(self, at: int | slice) -> Note | list[Note]:
        if self._first_run is not None:
            self._spread(self._first_run)
        places = range(0, len(self._kept), _WIDTH)[at]
        return self._note(places) if isinstance(places, int) else list(map(self._note, places))

    def __iter__(self) -> Iterator[Note]:
        """Those that there are now."""
        if self._first_run is not None:
            self._spread(self._first_run)
        return iter([self._note(at) for at in range(0, len(self._kept), _WIDTH)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"Notes({list(self)!r})"

    def _spread(self, start: int) -> None:
        """From here on, each note on its own."""
        kept = self._kept[start:]
        del self._kept[start:]
        for at in range(0, len(kept), _WIDTH):
            kind, where, before, after = kept[at : at + _WIDTH]
            if isinstance(where, tuple) and len(where) == 2:
                choice, first = where
                for call, (was, now) in enumerate(zip(before, after, strict=True), first):
                    self.about_call(kind, choice, call, "", was, now)
            else:
                self._kept += (kind, where, before, after)
        self._first_run, self._more = None, 0

    def _note(self, at: int) -> Note:
        kept = self._kept
        where = kept[at + 1]
        if isinstance(where, tuple):
            choice, call, member = where
            where = f"choices[{choice}].message.tool_calls[{call}]{member}"
        return Note(kept[at], where, kept[at + 2], kept[at + 3])
