"""Parses K3's tags in text that comes in pieces (section 5.8).

Bodies are not escaped: only their own closing tag ends them. What is not a known tag is text.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.kimi.markers.k3_elements import K3Elements
from moongate.kimi.markers.k3_fast import read_children, read_empty_calls, skip_repeats
from moongate.kimi.markers.k3_tags import (
    CHANNELS,
    CLOSE,
    CLOSED,
    END,
    IN_BODY,
    IN_TAG,
    MAX_TAG_CHARS,
    OPEN,
    OUTSIDE,
    SEP,
    TEXTS,
    Token,
    closed_before_piece,
    may_be_tag,
    tag_name,
    without_cut_sep,
)
from moongate.kimi.markers.pieces import Channel, Piece, Text
from moongate.kimi.markers.seams import Seams
from moongate.kimi.tool_set import ToolSet

_DONE: Final = -1  # instead of a position: everything was read


class K3Reader(K3Elements):
    """The parser of one choice (`pieces.Parser`).

    Each `_read_…` method takes the next match and returns the position to read on from.
    """

    __slots__ = (
        "_data",
        "_fast",
        "_pending",
        "_resume",
        "_run_stopped_at",
        "_seams",
        "_tag",
        "_tag_start",
    )

    def __init__(self, tool_set: ToolSet, repair: bool, fast: bool = True) -> None:
        super().__init__(tool_set, repair)
        self._fast = fast  # whole elements are read in one step (`k3_fast`)
        self._seams = Seams("content")
        self._tag: Token | None = None  # the token of the tag being read: <|open|> or <|close|>
        self._data = ""  # the text being read
        self._pending = ""  # its end, read again with the next text: the beginning of a token or of a tag
        self._resume = 0  # where to read on in `_pending`
        self._run_stopped_at = _DONE  # where `read_empty_calls` found no further call
        self._tag_start = 0  # where that token begins

    def idle_for(self, channel: Channel) -> bool:
        builder = self._builder
        return (
            self._call is None
            and self._tag is None
            and not self._pending
            and builder.field == channel == builder.channel
            and builder.immediate
        )

    def passed(self, channel: Channel, last: str) -> None:
        self._builder.passed(channel, last)

    def feed(self, channel: Channel, text: str) -> list[Piece]:
        builder = self._builder
        if channel != self._seams.field:
            self._switch_field(channel)
        elif not self._pending and self._tag is None and "<" not in text:  # no token here
            if self._call is None and builder.immediate:
                if not text:
                    return []
                builder.passed(builder.channel, text[-1])
                return [Text(builder.channel, text)]
            self._feed_text(text)
            return builder.take()
        self._data = self._pending + text
        self._read(final=False)
        return builder.take()

    def release(self) -> list[Piece]:
        if self._call is None:
            self._data = self._pending
            self._read(final=True)
        return self._builder.take()

    def close(self) -> list[Piece]:
        self._data = self._pending
        self._read(final=True)
        return self._builder.take()

    def _switch_field(self, field: Channel) -> None:
        """Text of the other field follows."""
        self._seams.change(field, len(self._pending))
        if not self._pending:
            self._builder.switch_field(field)

    def _read(self, final: bool) -> None:
        pos, self._resume, self._pending, self._tag_start, self._run_stopped_at = self._resume, 0, "", 0, _DONE
        while pos != _DONE:
            lexer = IN_TAG if self._tag is not None else IN_BODY if self._body else OUTSIDE
            match = lexer.find(self._data, pos, final)
            stop = lexer.partial_start(self._data, pos) if match is None else match.start()
            token = None if match is None else lexer.kind(match)
            if self._tag is not None:
                pos = self._read_tag(self._tag, stop, match, token, final)
            else:
                pos = self._read_text(pos, stop, match, token, final)
        if self._seams.any:
            self._seams.shift(len(self._data) - len(self._pending))
        if self._tag is None and not self._seams.any:
            self._builder.switch_field(self._seams.field)

    def _show(self, start: int, stop: int) -> None:
        """Text outside tags, each part in the field it comes from."""
        if not self._seams.any:
            self._builder.switch_field(self._seams.field)
            self._feed_text(self._data[start:stop])
            return
        for field, begin, end in self._seams.parts(start, stop):
            self._builder.switch_field(field)
            self._feed_text(self._data[begin:end])

    def _read_text(self, pos: int, stop: int, match: re.Match[str] | None, token: Token | None, final: bool) -> int:
        data = self._data
        if stop > pos:
            self._show(pos, stop)
        if match is None or token is None:
            if not final:
                self._pending = data[stop:]
            elif self._call is None:
                self._show(stop, len(data))
            else:
                self._end_of_text(data[stop:])
            return _DONE
        self._builder.switch_field(self._seams.at(stop))
        if token is END:
            self._end_call()
            self._drop(match[1])
            return match.end()
        if token is CLOSE and match.end() - stop > len(TEXTS[CLOSE]):  # several: all but the last close nothing
            self._close_element("")
            self._builder.switch_field(self._seams.at(match.end() - len(TEXTS[CLOSE])))
        alone = self._fast and not self._seams.any
        end = self._read_complete(stop) if alone and token is OPEN and not self._body else stop
        if end > stop:
            return end
        self._tag = token
        self._tag_start = match.end() - len(TEXTS[token])
        return match.end()

    def _read_complete(self, at: int) -> int:
        """Read what is complete from `at` on in one step. Returns where it ends."""
        if at == self._run_stopped_at:
            return at
        if self._call is not None:
            end = read_children(self._data, at, self._call)
            if end > at:
                return end
        if not self._tool_set.calls_allowed:
            return at
        end, calls = read_empty_calls(self._data, at)
        if calls:
            self._end_call()
            self._builder.block_field = self._builder.field
            self._builder.whole_calls(calls)
            self._run_stopped_at = end
        return end

    def _read_tag(self, tag: Token, stop: int, match: re.Match[str] | None, token: Token | None, final: bool) -> int:
        data, start = self._data, self._tag_start + len(TEXTS[tag])
        cut = tag is OPEN and self._call is None and data.find(TEXTS[END], start, stop) >= 0  # it is removed from text
        text = data[start:stop].replace(TEXTS[END], "") if cut else data[start:stop]
        if tag is CLOSE and self._seams.any and (end := self._closed_at_seam(start, stop)) >= 0:
            return end
        if tag is CLOSE and token is not SEP and (match is not None or (not final and stop < len(data))):
            text = without_cut_sep(text)
            if not self._body and (name := closed_before_piece(text)):
                if match is not None:
                    self._tag = None
                    self._close_element(name)
                    return start + text.rfind("<")
                text = name
        ends = final and match is None
        is_text = ends and (cut or (tag is CLOSE and self._is_before_piece(text, data[stop:])))
        if stop - start <= MAX_TAG_CHARS and self._may_be_tag(text, tag) and not is_text:
            if match is None:
                if ends:
                    self._end_in_tag(tag, text, stop)
                else:
                    self._pending = data[self._tag_start :]
                    self._resume = stop - self._tag_start
                return _DONE
            if tag is OPEN and token is END and self._call is None:
                return match.end()
            if tag is CLOSE and token is not SEP and (not self._body or text.strip() == self._body):
                self._tag = None
                self._close_element(tag_name(text))  # directly before another token it needs no end of its own
                return stop
            if token is SEP and self._apply_tag(tag, text):
                self._tag = None
                if cut:
                    self._drop(TEXTS[END])
                repeats = self._fast and not self._seams.any and tag_name(text) in CHANNELS
                return skip_repeats(data, match.end(), TEXTS[tag] + text + TEXTS[SEP]) if repeats else match.end()
        self._tag = None
        self._show(self._tag_start, start)  # it was text, and what follows is read as text
        return start

    def _end_in_tag(self, tag: Token, text: str, stop: int) -> None:
        """The text ends inside a tag; at `stop` a piece of a token, or nothing."""
        self._tag = None
        if tag is CLOSE:
            self._end_in_closing_tag(text, self._data[stop:])
        elif self._call is not None:
            self._truncate(self._call)
        else:
            self._show(self._tag_start, len(self._data))

    def _closed_at_seam(self, start: int, stop: int) -> int:
        """Where a field ends with `<|close|>NAME`, that closes as the end of the text does; -1 if none does here."""
        _, _, end = next(self._seams.parts(start, stop))
        name = self._data[start:end].strip()
        if name not in CLOSED or (self._body and name != self._body) or may_be_tag(self._data[start:stop], CLOSE):
            return -1
        self._tag = None
        self._close_element(name)
        return end

    def _may_be_tag(self, text: str, tag: Token) -> bool:
        if not self._body:
            return may_be_tag(text, tag)
        return self._body.startswith(text.strip()) and may_be_tag(text, tag)
