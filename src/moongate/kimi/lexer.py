"""Finds fixed texts in text that comes in pieces, and says how much of its end may still become one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Generic, TypeVar

Kind = TypeVar("Kind")


class Lexer(Generic[Kind]):
    """The next of some fixed texts: the leftmost, and of those the longest, wherever the text is cut.

    Frozen and shared. `runs`: neighbours of the same kind may come as one match (only where no two texts overlap).
    `only`: a pattern that holds behind a text that counts; the others are passed over.
    """

    __slots__ = ("_clean", "_first", "_kinds", "_last", "_longest", "_pieces", "_search")

    def __init__(self, texts: Mapping[str, Kind], *, runs: bool = False, only: str = "") -> None:
        ordered = sorted(texts, key=len, reverse=True)
        firsts, lasts = {text[0] for text in ordered}, {text[-1] for text in ordered}
        self._first: Final = firsts.pop() if len(firsts) == 1 else None
        self._last: Final = lasts.pop() if len(lasts) == 1 else ""
        self._pieces: Final = frozenset(text[:end] for text in ordered for end in range(1, len(text)))
        # With one first character that stands nowhere else in a text, a text can only hide as the beginning of another.
        alone = self._first is not None and all(text.rfind(self._first) == 0 for text in ordered)
        self._clean: Final = alone and self._pieces.isdisjoint(ordered)
        again = r"\1*" if runs and self._clean else ""
        self._search: Final = re.compile(f"({_pattern(ordered)}){only}{again}").search
        self._kinds: Final = dict(texts)
        self._longest: Final = len(ordered[0])

    def find(self, data: str, pos: int, final: bool) -> re.Match[str] | None:
        """The next text from `pos` on. None also if an earlier or a longer one may still come (unless `final`)."""
        if data.find(self._last, pos) < 0:
            return None
        match = self._search(data, pos)
        if match is None or final or self._clean or match.start() <= len(data) - self._longest:
            return match
        return match if self.held(data, pos) > match.start() else None

    def kind(self, match: re.Match[str]) -> Kind:
        return self._kinds[match[1]]

    def held(self, data: str, pos: int) -> int:
        """Where the end of `data` begins that may still become one of the texts; its length if there is none."""
        start = max(pos, len(data) - self._longest + 1)
        if self._clean:
            assert self._first is not None
            at = data.rfind(self._first, start)
            return at if at >= 0 and data[at:] in self._pieces else len(data)
        return next((at for at in range(start, len(data)) if data[at:] in self._pieces), len(data))


def _pattern(texts: Iterable[str]) -> str:
    """Matches the longest of the texts. What they have in common is tried once."""
    following: dict[str, list[str]] = {}
    for text in texts:
        following.setdefault(text[:1], []).append(text[1:])
    ends = following.pop("", None) is not None
    branches = [re.escape(first) + _pattern(rest) for first, rest in following.items()]
    pattern = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})" if branches else ""
    return f"(?:{pattern})?" if ends and branches else pattern
