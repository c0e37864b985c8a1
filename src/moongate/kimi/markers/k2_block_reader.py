"""Reads the arguments of a K2 block up to its end marker: the states ARGUMENTS and AMBIGUOUS (sections 5.3, 5.5).

An end marker inside a JSON string may be part of the string. Until the text decides, the state is AMBIGUOUS: the text
from the marker on is kept, and read again outside the block if the marker was the end.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Final

from moongate.kimi.markers.json_scan import BROKEN, OPEN
from moongate.kimi.markers.k2_block import BY_KEYS, BlockContext, CallBlock
from moongate.kimi.markers.k2_markers import CALL_END, K2Markers, Marker
from moongate.kimi.markers.k2_table import AFTER, AMBIGUOUS, ARGUMENTS, BEFORE, ROWS, START
from moongate.kimi.markers.piece_builder import PieceBuilder
from moongate.kimi.markers.pieces import Channel
from moongate.kimi.markers.seams import Seams
from moongate.kimi.tool_set import ToolSet

MAX_AMBIGUOUS_CHARS: Final = 65_536  # kept from the first end marker on; past this, that marker was the end

DONE: Final = -1  # instead of a position: everything was read


class K2BlockReader(ABC):
    """The state that all parts of a channel's parser share, and the part for arguments.

    Each `_read_…` method takes the next match and returns the position to read on from.
    """

    __slots__ = (
        *(
            "_ambiguous_start",
            "_block",
            "_builder",
            "_context",
            "_data",
            "_end_marker",
            "_end_marker_chars",
        ),
        *("_base", "_held", "_held_chars", "_markers", "_pending", "_return_state", "_seams", "_state", "in_call"),
    )

    def __init__(self, markers: K2Markers, tool_set: ToolSet, repair: bool) -> None:
        self._markers = markers
        self._builder = PieceBuilder("content")
        self._seams = Seams("content")
        self._context = BlockContext(tool_set, self._builder, repair)
        self._state = START
        self._return_state = BEFORE  # the state after a block that is text
        self._block: CallBlock
        self.in_call = False
        self._data = ""  # the text being read
        self._pending = ""  # its end, read again with the next text: the beginning of a marker, or of a block's header
        self._end_marker = CALL_END  # AMBIGUOUS: the first end marker ...
        self._end_marker_chars = 0  # ... and the length of its text
        self._ambiguous_start = 0  # AMBIGUOUS: where the text begins that is not in `_held`
        self._held: list[str] = []  # AMBIGUOUS: text of earlier feeds, from the first end marker on
        self._held_chars = 0
        self._base = 0  # seams count from the beginning of `_held`: so many characters before the text being read

    @abstractmethod
    def _enter(self, field: Channel) -> None:
        """The text that is read next comes from this field."""

    def _parts(self, start: int, stop: int) -> list[tuple[Channel, str]]:
        """The text between two positions, each part with its field."""
        data, base = self._data, self._base
        if not self._seams.any:
            return [(self._seams.field, data[start:stop])]
        return [(f, data[begin - base : end - base]) for f, begin, end in self._seams.parts(start + base, stop + base)]

    def _show_as_is(self, parts: list[tuple[Channel, str]]) -> None:
        """Markup that turned out to be text: no code, no tags."""
        for field, text in parts:
            if text:
                self._enter(field)
                self._builder.text(text)

    def _feed_block(self, start: int, stop: int, marker: bool = False) -> None:
        """More of the block's arguments. Those of a block that is text are shown in the field they come from."""
        for field, text in self._parts(start, stop):
            self._enter(field)
            self._block.feed(text, marker)

    def _commit_block(self, raw: str, start: int) -> None:
        """The text since the first end marker belongs to the arguments; it begins at this position."""
        for field, begin, end in self._seams.parts(start, start + len(raw)):
            self._enter(field)
            self._block.commit(raw[begin - start : end - start])

    def _enter_for_end(self, pos: int) -> None:
        """The block ends at this position. A call that its keys name ends where it began."""
        if self._block.outcome is BY_KEYS:
            self._enter(self._builder.block_field)
        elif self._seams.any:
            self._enter(self._seams.at(pos + self._base))

    def _read_arguments(self, pos: int, stop: int, match: re.Match[str] | None, final: bool) -> int:
        data, block = self._data, self._block
        if stop > pos:
            self._feed_block(pos, stop)
        if match is None:
            self._pending = data[stop:]
            return self._end_of_text(self._take_partial_marker()) if final else DONE
        marker = self._markers.arguments.kind(match)
        if ROWS[ARGUMENTS][marker] is None:
            self._feed_block(stop, match.end(), marker=True)
            return match.end()
        if block.arguments.completeness() is not OPEN:
            return self._end_block(marker, stop, match.end())
        block.savepoint()
        block.feed(match.group())
        self._state = AMBIGUOUS
        self._end_marker, self._end_marker_chars = marker, match.end() - stop
        self._ambiguous_start = stop
        self._held_chars = 0
        return match.end()

    def _read_ambiguous(self, pos: int, stop: int, match: re.Match[str] | None, final: bool) -> int:
        data, block, start = self._data, self._block, self._ambiguous_start
        if stop > pos:
            block.feed(data[pos:stop])
        self._pending = data[stop:] if match is None else ""
        partial_marker = self._take_partial_marker() if match is None and final else ""
        completeness = block.arguments.completeness()
        chars = self._held_chars + stop - start
        hopeless = completeness is BROKEN or chars > MAX_AMBIGUOUS_CHARS
        if hopeless or (final and match is None and completeness is OPEN):
            return self._end_at_first_marker()
        if match is None and not final:
            self._held.append(data[start:stop])
            self._held_chars = chars
            return DONE
        marker = None if match is None else self._markers.arguments.kind(match)
        ends = marker is None or ROWS[AMBIGUOUS][marker] is not None
        if match is not None and (completeness is OPEN or not ends):
            block.feed(match.group(), marker=not ends)
            return match.end()
        self._commit_block("".join((*self._held, data[start:stop])), 0 if self._held else start)
        self._held.clear()
        if match is None or marker is None:
            return self._end_of_text(partial_marker)
        return self._end_block(marker, stop, match.end())

    def _end_at_first_marker(self) -> int:
        """The first end marker was the end: the text behind it is read again."""
        self._block.rollback()
        start = self._ambiguous_start
        if self._held:
            self._data = "".join((*self._held, self._data))
            self._held.clear()
            start = self._base = 0
        return self._end_block(self._end_marker, start, start + self._end_marker_chars)

    def _end_block(self, marker: Marker, start: int, end: int) -> int:
        """The block ends at this marker. A marker that is not callEnd is read again, outside the block."""
        closes = marker is CALL_END
        self._enter_for_end(start)
        was_call = self._block.end()
        if not was_call:
            self._show_as_is([*self._block.raw, *(self._parts(start, end) if closes else ())])
        self.in_call = False
        self._state = AFTER if was_call else self._return_state
        return end if closes else start

    def _end_of_text(self, partial_marker: str) -> int:
        end = len(self._data)
        start = end - len(partial_marker)
        self._enter_for_end(start)
        if not self._block.end_of_text():
            self._show_as_is([*self._block.raw, *self._parts(start, end)])
        self.in_call = False
        self._state = self._return_state
        return DONE

    def _take_partial_marker(self) -> str:
        """The beginning of a marker at the end of the text; of a tag, it belongs to the arguments."""
        partial, self._pending = self._pending, ""
        if partial and partial not in self._markers.prefixes:
            self._block.feed(partial)
            return ""
        return partial
