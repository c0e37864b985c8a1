"""Parses K2's markers in text that comes in pieces (sections 5.1 to 5.6 and 5.9).

It follows the grammar in `k2_table`. Text is read in place, by position. Going back (a header that was none, an end
marker that was the end after all) sets the position back: nothing is copied, and each character is read a bounded
number of times.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.kimi.markers.call_headers import MAX_HEADER_CHARS, read_header
from moongate.kimi.markers.k2_block import BY_KEYS, CALL, TEXT, CallBlock, read_bare_call
from moongate.kimi.markers.k2_block_reader import DONE
from moongate.kimi.markers.k2_fast import read_run
from moongate.kimi.markers.k2_markers import ARG_BEGIN, CALL_END, SECTION_BEGIN, SECTION_END, K2Markers
from moongate.kimi.markers.k2_table import (
    AFTER,
    AMBIGUOUS,
    ARGUMENTS,
    BEFORE,
    BEGIN,
    BREAK,
    HEADER,
    ROWS,
    SHOW,
    START,
    THINK,
)
from moongate.kimi.markers.k2_text import K2TextReader
from moongate.kimi.markers.pieces import CallArguments, Channel, Piece, Text
from moongate.kimi.tool_set import ToolSet

_SECTIONS: Final = frozenset((SECTION_BEGIN, SECTION_END))


class K2Reader(K2TextReader):
    """The parser of one choice (`pieces.Parser`)."""

    __slots__ = ("_fast", "_first", "_header_start", "_lexers", "_resume", "_run_stopped_at")

    def __init__(self, markers: K2Markers, tool_set: ToolSet, repair: bool, fast: bool = True) -> None:
        super().__init__(markers, tool_set, repair)
        self._fast = fast  # whole blocks are read in one step (`k2_fast`)
        outside = markers.outside
        self._lexers = (outside, outside, outside, outside, markers.header, markers.arguments, markers.arguments)
        self._first = markers.first  # text without it holds no marker
        self._resume = 0  # where to read on in `_pending`
        self._header_start = 0  # HEADER: behind callBegin
        self._run_stopped_at = DONE  # the callBegin of a block that `read_run` could not read

    def idle_for(self, channel: Channel) -> bool:
        builder = self._builder
        return (
            self._state in (BEFORE, AFTER)
            and self._first == "<"
            and not self._pending
            and builder.field == channel == builder.channel
            and builder.immediate
            and not self.has_code_in_doubt
        )

    def passed(self, channel: Channel, last: str) -> None:
        self._builder.passed(channel, last)

    def feed(self, channel: Channel, text: str) -> list[Piece]:
        if channel != self._seams.field:
            self._switch_field(channel)
        elif not self._pending and self._first is not None and self._first not in text:  # no marker here
            state, builder = self._state, self._builder
            if state is ARGUMENTS and self.in_call:
                part = self._block.arguments.feed(text)
                return [CallArguments(part)] if part else []
            if (state is BEFORE or state is AFTER) and builder.immediate and not self.has_code_in_doubt:
                if not text:
                    return []
                if "`" not in text:
                    builder.passed(builder.channel, text[-1])
                    return [Text(builder.channel, text)]
        if not text:
            return self._builder.take()
        self._data = self._pending + text
        self._read(final=False)
        return self._builder.take()

    def release(self) -> list[Piece]:
        if self._state not in (ARGUMENTS, AMBIGUOUS):
            self._data = self._pending
            self._read(final=True)
        return self._builder.take()

    def close(self) -> list[Piece]:
        self._data = self._pending
        self._read(final=True)
        return self._builder.take()

    def _switch_field(self, field: Channel) -> None:
        """Text of the other field follows."""
        self._release_tags()
        self._seams.change(field, self._base + len(self._pending))
        if not self._pending:
            self._enter(field)

    def _read(self, final: bool) -> None:
        pos, self._resume, self._pending = self._resume, 0, ""
        self._header_start = len(self._markers.tokens.call_begin) if self._state is HEADER else 0
        self._ambiguous_start, self._run_stopped_at = 0, DONE
        while pos != DONE:
            state = self._state
            if pos == len(self._data) and state < HEADER and not final:
                break  # the text ends with a marker: nothing is pending
            lexer = self._lexers[state]
            match = lexer.find(self._data, pos, final)
            stop = lexer.partial_start(self._data, pos) if match is None else match.start()
            if state is HEADER:
                pos = self._read_header(stop, match, final)
            elif state is ARGUMENTS:
                pos = self._read_arguments(pos, stop, match, final)
            elif state is AMBIGUOUS:
                pos = self._read_ambiguous(pos, stop, match, final)
            else:
                pos = self._read_text(pos, stop, match, final)
        if final:
            self._release_tags()
        self._settle_seams()

    def _settle_seams(self) -> None:
        """Count the seams from what is kept for the next text."""
        if self._seams.any:
            if not self._held:
                self._seams.shift(self._base + len(self._data) - len(self._pending))
            elif not self._base:
                self._seams.shift(self._ambiguous_start)
        if not self._seams.any:
            self._enter(self._seams.field)
        self._base = self._held_chars if self._held else 0

    def _read_text(self, pos: int, stop: int, match: re.Match[str] | None, final: bool) -> int:
        data, builder = self._data, self._builder
        if match is None and final:
            stop = len(data)
        if stop > pos:
            self._show(pos, stop)
        if match is None:
            self._pending = data[stop:]
            return DONE
        self._enter(self._seams.at(stop + self._base))
        marker = self._markers.outside.kind(match)
        transition = ROWS[self._state][marker]
        assert transition is not None
        act, following = transition
        text = self._run_in_field(match) if self._seams.any else match.group()
        end = stop + len(text)
        if act is BEGIN:
            return self._begin_block(stop, match.end())
        if act is BREAK:
            self._release_tags()
            builder.drop(marker, match[1])
            builder.block_field = builder.field
            builder.call_boundary()
            self._state = following
            return self._skip_sections(end)
        if act is SHOW:
            self._show(stop, end)
        elif following is THINK or self._state is THINK:
            builder.drop(marker, match[1])
            builder.think(following is THINK)
        else:
            self._tag(marker, text)
        self._state = following
        return end

    def _run_in_field(self, match: re.Match[str]) -> str:
        """A match is a run of one marker: as many of them as begin in the field of the first."""
        _, begin, end = next(self._seams.parts(match.start() + self._base, match.end() + self._base))
        return match[1] * -((begin - end) // len(match[1]))

    def _begin_block(self, start: int, end: int) -> int:
        """One or several callBegin from `start` to `end`: only the last one may have a header."""
        self._release_tags()
        begin = end - len(self._markers.tokens.call_begin)
        if begin > start:
            self._show_as_is(self._parts(start, begin))
            self._enter(self._seams.at(begin + self._base))
        self._builder.block_field = self._builder.field
        run = None
        if self._fast and begin != self._run_stopped_at and not self._seams.any:
            run = read_run(self._data, begin, self._markers, self._context)
        self._return_state = BEFORE if self._state is START else self._state
        if run is not None:
            self._state = AFTER if run.called else self._return_state
            self._run_stopped_at = run.end if run.ambiguous else DONE
            return run.end
        self._header_start = end
        self._state = HEADER
        return end

    def _skip_sections(self, pos: int) -> int:
        """Where the section markers from `pos` on end, if such markers were reported already."""
        sections = self._markers.sections
        if sections is None or self._seams.any or not self._builder.has_noted(_SECTIONS):
            return pos
        return sections.match(self._data, pos).end()  # type: ignore[union-attr]  # it always matches

    def _read_header(self, stop: int, match: re.Match[str] | None, final: bool) -> int:
        data, start = self._data, self._header_start
        begin = start - len(self._markers.tokens.call_begin)
        if stop - start > MAX_HEADER_CHARS:  # callBegin was text, and what follows it is read as text
            self._show_block(begin, start)
            return start
        if match is None:
            if final:
                self._show_block(begin, len(data))
                return DONE
            self._pending = data[begin:]
            self._resume = stop - begin
            return DONE
        text = data[start:stop]
        marker = self._markers.header.kind(match)
        if marker is ARG_BEGIN:
            self._begin_arguments(begin, text, match.end())
            return match.end()
        end = match.end() if marker is CALL_END else stop
        self._enter(self._builder.block_field)
        if read_bare_call(text, self._context):
            self._state = AFTER
        else:
            self._show_block(begin, end)
        return end

    def _begin_arguments(self, begin: int, header: str, end: int) -> None:
        """The header has ended with argBegin."""
        self._enter(self._builder.block_field)
        block = CallBlock(self._data[begin:end], read_header(header, self._context.tool_set), self._context)
        self._block = block
        self._state = ARGUMENTS
        self.in_call = block.outcome is CALL
        if block.outcome is TEXT:
            self._show_as_is(self._parts(begin, end))
        elif block.outcome is BY_KEYS:
            block.raw += self._parts(begin, end)

    def _show_block(self, begin: int, end: int) -> None:
        """The block from callBegin on was text."""
        self._show_as_is(self._parts(begin, end))
        self._state = self._return_state
