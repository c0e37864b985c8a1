"""Finds markers in text that is not parsed, so that one note can report them (`markers_seen`)."""

from __future__ import annotations

from collections.abc import Iterable


class MarkerWatch:
    """Looks for markers in the text of one channel, which comes in pieces."""

    __slots__ = ("_firsts", "_longest", "_tail", "_tokens")

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self._tokens = tokens
        self._longest = max(map(len, tokens))
        self._firsts = {token[0] for token in tokens}
        self._tail = ""

    @property
    def pending(self) -> bool:
        """Whether the text so far may end inside a marker."""
        return bool(self._tail)

    def find(self, text: str) -> str | None:
        """The first marker that this text completes."""
        if not self._tail and not any(first in text for first in self._firsts):
            return None
        text = self._tail + text
        found = [token for token in self._tokens if token in text]
        if found:
            return min(found, key=text.index)
        tail = text[-self._longest + 1 :]
        starts = (at for at, char in enumerate(tail) if char in self._firsts)
        at = next((at for at in starts if any(token.startswith(tail[at:]) for token in self._tokens)), None)
        self._tail = "" if at is None else tail[at:]
        return None


def marker_starts(tokens: Iterable[str]) -> str:
    """The characters that these markers, and tags, begin with: text without any of them holds no marker."""
    return "".join(sorted({"<", *(token[0] for token in tokens)}))
