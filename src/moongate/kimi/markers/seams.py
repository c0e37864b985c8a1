"""Which field the text being read comes from: reasoning and content are one text, in order of arrival (section 5.1).

A marker may begin in one field and go on in the other. What is kept of a text for the next `feed` then stands before
text of another field, and if it turns out to be no marker, each part leaves in its own field.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from moongate.kimi.markers.pieces import Channel


class Seams:
    """The fields of the text that a parser is reading. Positions count from the beginning of that text."""

    __slots__ = ("_ends", "_fields", "field")

    def __init__(self, field: Channel) -> None:
        self.field: Channel = field  # of the last part, which is nearly always the whole text
        self._ends: list[int] = []  # where the parts before it end ...
        self._fields: list[Channel] = []  # ... and their fields

    def change(self, field: Channel, kept: int) -> None:
        """Another field begins. `kept`: so many characters of the text before are still to be read."""
        if kept:
            self._ends.append(kept)
            self._fields.append(self.field)
        self.field = field

    @property
    def any(self) -> bool:
        """Whether the text comes from more than one field."""
        return bool(self._ends)

    def shift(self, by: int) -> None:
        """So many characters at the beginning of the text are read (if negative, so many are put before it)."""
        if self._ends:
            read = bisect_right(self._ends, by)
            self._ends = [end - by for end in self._ends[read:]]
            self._fields = self._fields[read:]

    def at(self, pos: int) -> Channel:
        """The field of one character."""
        part = bisect_right(self._ends, pos)
        return self._fields[part] if part < len(self._fields) else self.field

    def parts(self, start: int, stop: int) -> Iterator[tuple[Channel, int, int]]:
        """The text between two positions: field, beginning and end of each part."""
        for part in range(bisect_right(self._ends, start), len(self._ends)):
            end = self._ends[part]
            yield self._fields[part], start, min(end, stop)
            start = end
            if start >= stop:
                return
        yield self.field, start, stop
