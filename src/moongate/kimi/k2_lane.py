"""Walks K2's table (`k2_table`) over text that comes in pieces: sections 5.1 to 5.6 and 5.9.

Text is read in place, by position. To go back (a header that was none, an end marker that was the end after all)
means to set the position back: nothing is copied, and a character is read a bounded number of times.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.kimi.headers import MAX_HEADER_CHARS, read_header
from moongate.kimi.json_scan import BROKEN, OPEN
from moongate.kimi.k2_block import CALL, Block, Desk, bare_call
from moongate.kimi.k2_run import read_run
from moongate.kimi.k2_table import (
    AFTER,
    ARGUMENTS,
    BEFORE,
    BEGIN,
    BREAK,
    DOUBT,
    HEADER,
    ROWS,
    SHOW,
    START,
    THINK,
)
from moongate.kimi.markers import ARG_BEGIN, CALL_END, SECTION_BEGIN, SECTION_END, K2Markers, Marker
from moongate.kimi.offer import Offer
from moongate.kimi.pieces import CallArguments, Channel, Piece, Text
from moongate.kimi.visible import Visible

MAX_DOUBT_CHARS: Final = 65_536  # from an end marker on that may stand inside a JSON string

_SECTIONS: Final = frozenset((SECTION_BEGIN, SECTION_END))
_DONE: Final = -1  # instead of a position: all was read


class K2Lane:
    """One field of one choice."""

    __slots__ = (
        *("_back", "_block", "_data", "_desk", "_ending", "_ending_chars", "_first", "_held", "_held_chars"),
        *("_home", "_lexers", "_markers", "_pending", "_resume", "_since", "_state", "_stuck", "_visible", "calling"),
    )

    def __init__(self, home: Channel, markers: K2Markers, offer: Offer, mend: bool) -> None:
        self._home: Channel = home
        self._markers = markers
        self._visible = Visible(home)
        self._desk = Desk(offer, self._visible, mend)
        outside = markers.outside
        self._lexers = (outside, outside, outside, outside, markers.header, markers.arguments, markers.arguments)
        self._first = markers.first  # text without it holds no marker
        self._state = START if home == "content" else BEFORE
        self._back = BEFORE  # where a block leads that is text
        self._block: Block
        self.calling = False
        self._data = ""
        self._pending = ""  # read again with the next text: what may become a marker, or a whole header
        self._resume = 0  # where to look on in it
        self._stuck = _DONE  # the callBegin of a block that a run ended at
        self._since = 0  # HEADER: where it begins. DOUBT: where the text begins that is not in `_held`
        self._ending = CALL_END  # DOUBT: the first end marker ...
        self._ending_chars = 0  # ... and the length of its text
        self._held: list[str] = []  # DOUBT: text of earlier feeds, from the first end marker on
        self._held_chars = 0

    @property
    def idle(self) -> bool:
        return (
            self._state in (BEFORE, AFTER)
            and self._first == "<"
            and not self._pending
            and self._visible.channel == self._home
            and self._visible.flows
        )

    def feed(self, text: str) -> list[Piece]:
        if not self._pending and self._first is not None and self._first not in text:  # no marker here
            state = self._state
            if state is ARGUMENTS and self.calling:
                said = self._block.arguments.feed(text)
                return [CallArguments(said)] if said else []
            if (state is BEFORE or state is AFTER) and self._visible.flows:
                return [Text(self._visible.channel, text)] if text else []
        if not text:
            return []
        self._data = self._pending + text
        self._run(final=False)
        return self._visible.take()

    def close(self) -> list[Piece]:
        self._data = self._pending
        self._run(final=True)
        return self._visible.take()

    def _run(self, final: bool) -> None:
        pos, self._resume, self._pending, self._since, self._stuck = self._resume, 0, "", 0, _DONE
        while pos != _DONE:
            state = self._state
            if pos == len(self._data) and state is not DOUBT and not final:
                return  # a marker was the last thing: nothing waits
            lexer = self._lexers[state]
            match = lexer.find(self._data, pos, final)
            stop = lexer.held(self._data, pos) if match is None else match.start()
            if state is HEADER:
                pos = self._in_header(stop, match, final)
            elif state is ARGUMENTS:
                pos = self._in_arguments(pos, stop, match, final)
            elif state is DOUBT:
                pos = self._in_doubt(pos, stop, match, final)
            else:
                pos = self._in_text(pos, stop, match, final)

    def _in_text(self, pos: int, stop: int, match: re.Match[str] | None, final: bool) -> int:
        data, visible = self._data, self._visible
        if match is None and final:
            stop = len(data)
        if stop > pos:
            visible.say(data[pos:stop])
            if self._state is START:
                self._state = BEFORE
        if match is None:
            self._pending = data[stop:]
            return _DONE
        marker = self._markers.outside.kind(match)
        transition = ROWS[self._state][marker]
        assert transition is not None
        act, following = transition
        if act is BREAK:
            visible.drop(marker, match[1])
            visible.after()
            self._state = following
            return self._behind_sections(match.end())
        if act is BEGIN:
            begin = match.end() - len(self._markers.tokens.call_begin)
            if begin > stop:  # a run of them: only the last one may have a header
                visible.say(data[stop:begin])
            run = None if begin == self._stuck else read_run(data, begin, self._markers, self._desk)
            self._back = BEFORE if self._state is START else self._state
            if run is not None:
                self._state = AFTER if run.called else self._back
                self._stuck = run.end if run.stuck else _DONE
                return run.end
            self._since = match.end()
        elif act is SHOW:
            visible.say(match.group())
        else:
            visible.drop(marker, match[1])
            if following is not self._state:
                visible.turn("reasoning" if following is THINK else self._home)
        self._state = following
        return match.end()

    def _behind_sections(self, pos: int) -> int:
        """Where the sections end that begin and end here, if there is nothing new to say of them."""
        sections = self._markers.sections
        if sections is None or not self._visible.knows(_SECTIONS):
            return pos
        return sections.match(self._data, pos).end()  # type: ignore[union-attr]  # it matches nothing at least

    def _in_header(self, stop: int, match: re.Match[str] | None, final: bool) -> int:
        data, since = self._data, self._since
        if stop - since > MAX_HEADER_CHARS:  # callBegin was text, and what follows it is read as such
            self._visible.say(self._markers.tokens.call_begin)
            self._state = self._back
            return since
        if match is None:
            if final:
                self._visible.say(self._markers.tokens.call_begin + data[since:])
                self._state = self._back
                return _DONE
            self._pending = data[since:]
            self._resume = stop - since
            return _DONE
        text = data[since:stop]
        marker = self._markers.header.kind(match)
        if marker is ARG_BEGIN:
            opening = self._markers.tokens.call_begin + text + match.group()
            self._block = Block(opening, read_header(text, self._desk.offer), self._desk)
            self._state = ARGUMENTS
            self.calling = self._block.fate is CALL
            return match.end()
        if bare_call(text, self._desk):
            self._state = AFTER
            return match.end() if marker is CALL_END else stop
        self._visible.say(self._markers.tokens.call_begin + text)
        self._state = self._back
        if marker is not CALL_END:
            return stop
        self._visible.say(match.group())
        return match.end()

    def _in_arguments(self, pos: int, stop: int, match: re.Match[str] | None, final: bool) -> int:
        data, block = self._data, self._block
        if stop > pos:
            block.feed(data[pos:stop])
        if match is None:
            self._pending = data[stop:]
            return self._end_of_text(self._piece()) if final else _DONE
        marker = self._markers.arguments.kind(match)
        if ROWS[ARGUMENTS][marker] is None:
            block.feed(match.group(), marker=True)
            return match.end()
        if block.arguments.verdict() is not OPEN:
            return self._end(marker, stop, match.end())
        block.doubt()
        block.feed(match.group())
        self._state = DOUBT
        self._ending, self._ending_chars = marker, match.end() - stop
        self._since = stop
        self._held_chars = 0
        return match.end()

    def _in_doubt(self, pos: int, stop: int, match: re.Match[str] | None, final: bool) -> int:
        data, block, since = self._data, self._block, self._since
        if stop > pos:
            block.feed(data[pos:stop])
        self._pending = data[stop:] if match is None else ""
        piece = self._piece() if match is None and final else ""
        shape = block.arguments.verdict()
        chars = self._held_chars + stop - since
        if shape is BROKEN or chars > MAX_DOUBT_CHARS or (final and match is None and shape is OPEN):
            return self._retract()
        if match is None and not final:
            self._held.append(data[since:stop])
            self._held_chars = chars
            return _DONE
        marker = None if match is None else self._markers.arguments.kind(match)
        ends = marker is None or ROWS[DOUBT][marker] is not None
        if match is not None and (shape is OPEN or not ends):
            block.feed(match.group(), marker=not ends)
            return match.end()
        block.accept("".join((*self._held, data[since:stop])))
        self._held.clear()
        if match is None or marker is None:
            return self._end_of_text(piece)
        return self._end(marker, stop, match.end())

    def _retract(self) -> int:
        """The first end marker was the end: what follows it is read again."""
        self._block.retract()
        start = self._since
        if self._held:
            self._data = "".join((*self._held, self._data))
            self._held.clear()
            start = 0
        return self._end(self._ending, start, start + self._ending_chars)

    def _end(self, marker: Marker, start: int, end: int) -> int:
        """The block ends at this marker. Any but callEnd is read again, outside the block."""
        closes = marker is CALL_END
        made = self._block.end(self._data[start:end] if closes else "")
        self.calling = False
        self._state = AFTER if made else self._back
        return end if closes else start

    def _end_of_text(self, piece: str) -> int:
        self._block.end_of_text(piece)
        self.calling = False
        self._state = self._back
        return _DONE

    def _piece(self) -> str:
        """The piece of a marker at the end of the text; any other end of it still belongs to the arguments."""
        piece, self._pending = self._pending, ""
        if piece and piece not in self._markers.pieces:
            self._block.feed(piece)
            return ""
        return piece
