"""Finds fixed texts (markers) in text that comes in pieces, and how much of its end may still become one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Generic, TypeVar

Kind = TypeVar("Kind")


class Lexer(Generic[Kind]):
    """Finds the next of some fixed texts: the leftmost, of those the longest, wherever the input is cut.

    Frozen and shared. `merge_repeats`: adjacent texts of the same kind may come as one match (only where no two texts
    overlap). `lookahead`: a pattern that must hold behind a text; texts without it are skipped.
    """

    __slots__ = ("_first", "_kinds", "_last", "_longest", "_prefix_free", "_prefixes", "_search")

    def __init__(self, texts: Mapping[str, Kind], *, merge_repeats: bool = False, lookahead: str = "") -> None:
        ordered = sorted(texts, key=len, reverse=True)
        firsts, lasts = {text[0] for text in ordered}, {text[-1] for text in ordered}
        self._first: Final = firsts.pop() if len(firsts) == 1 else None
        self._last: Final = lasts.pop() if len(lasts) == 1 else ""
        self._prefixes: Final = frozenset(text[:end] for text in ordered for end in range(1, len(text)))
        # If all texts share a first character that is nowhere else in them, texts can only overlap as prefixes.
        alone = self._first is not None and all(text.rfind(self._first) == 0 for text in ordered)
        self._prefix_free: Final = alone and self._prefixes.isdisjoint(ordered)
        again = r"\1*" if merge_repeats and self._prefix_free else ""
        self._search: Final = re.compile(f"({_pattern(ordered)}){lookahead}{again}").search
        self._kinds: Final = dict(texts)
        self._longest: Final = len(ordered[0])

    def find(self, data: str, pos: int, final: bool) -> re.Match[str] | None:
        """The next text from `pos` on. None also if an earlier or a longer one may still come (unless `final`)."""
        if data.find(self._last, pos) < 0:
            return None
        match = self._search(data, pos)
        if match is None or final or self._prefix_free or match.start() <= len(data) - self._longest:
            return match
        return match if self.partial_start(data, pos) > match.start() else None

    def kind(self, match: re.Match[str]) -> Kind:
        return self._kinds[match[1]]

    def partial_start(self, data: str, pos: int) -> int:
        """Where the end of `data` that may still become one of the texts begins; its length if there is none."""
        start = max(pos, len(data) - self._longest + 1)
        if self._prefix_free:
            assert self._first is not None
            at = data.rfind(self._first, start)
            return at if at >= 0 and data[at:] in self._prefixes else len(data)
        return next((at for at in range(start, len(data)) if data[at:] in self._prefixes), len(data))


def _pattern(texts: Iterable[str]) -> str:
    """Matches the longest of the texts. Common prefixes are factored out, so that they are tried once."""
    following: dict[str, list[str]] = {}
    for text in texts:
        following.setdefault(text[:1], []).append(text[1:])
    ends = following.pop("", None) is not None
    branches = [re.escape(first) + _pattern(rest) for first, rest in following.items()]
    pattern = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})" if branches else ""
    return f"(?:{pattern})?" if ends and branches else pattern
