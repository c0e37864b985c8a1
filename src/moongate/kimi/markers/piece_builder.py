"""Builds the pieces of one choice: text, calls, and whitespace that is held back until text follows (section 5.5)."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from moongate.kimi.markers.pieces import (
    CallArguments,
    CallClosed,
    CallOpened,
    Channel,
    Dropped,
    Piece,
    Text,
    WholeCall,
    WholeCalls,
)
from moongate.wire.threads import let_threads_run

# Why markup was removed.
STRAY: Final = "a marker outside a call"
FORBIDDEN: Final = "no call may be made here"
NAMELESS: Final = "the call names no tool"

GAP: Final = "\n\n"  # what a lone closing tag between two words leaves


class PieceBuilder:
    """Collects the pieces of one `feed`. Adjacent texts of one channel, or of one call, become one piece.

    `field` is where the text comes from, `channel` where it goes: text of the reasoning field is content from the
    first section or call on, and a think tag at the start of content begins reasoning.
    """

    __slots__ = (
        *("_arguments", "_calls_seen", "_gap", "_held_back", "_last", "_noted", "_pieces", "_reasoning_over"),
        *("_texts", "_thinking", "_whitespace", "block_field", "channel", "field"),
    )

    def __init__(self, field: Channel) -> None:
        self.field: Channel = field
        self.channel: Channel = field
        self.block_field: Channel = field  # where the block began that is being read
        self._reasoning_over = False  # text of the reasoning field is content
        self._thinking = False  # text of the content field is reasoning
        self._pieces: list[Piece] = []
        self._texts: list[str] = []
        self._arguments: list[str] = []  # of the open call
        self._calls_seen = False  # a section or a call was seen: whitespace between markers is dropped
        self._held_back = False  # whitespace of content waits for text
        self._whitespace: list[str] = []  # held back
        self._last = ""  # the last character of the channel; nothing if something else than text followed
        self._gap = False  # a lone closing tag stands behind a character that is not blank
        self._noted: set[object] = set()

    @property
    def immediate(self) -> bool:
        """Whether any text comes out as it is and at once."""
        return not self._gap and not (self._held_back and self.channel == "content")

    def text(self, text: str) -> None:
        """Visible text, which is not empty."""
        if self._held_back and self.channel == "content":
            if text.isspace():
                self._whitespace.append(text)
                return
            self._gap = self._gap and not self._whitespace
            self._texts += self._whitespace
            self._whitespace.clear()
            self._held_back = False
        if self._gap:
            self._gap = False
            if not text[0].isspace():
                self._texts.append(GAP)
        self._last = text[-1]
        self._texts.append(text)

    def passed(self, channel: Channel, last: str) -> None:
        """Text that ends with this character left without being read."""
        if channel == self.channel:
            self._last = last

    def arguments(self, text: str) -> None:
        """The next part of the open call's arguments."""
        if text:
            self._arguments.append(text)

    def switch_field(self, field: Channel) -> None:
        """The text that follows comes from this field."""
        self.field = field
        self._update_channel()

    def think(self, thinking: bool) -> None:
        """The text that follows is reasoning, or no longer."""
        if self.field == "reasoning":
            self._reasoning_over = not thinking
        self._thinking = thinking and self.field == "content"
        self._update_channel()

    def _update_channel(self) -> None:
        reasoning = self._thinking if self.field == "content" else not self._reasoning_over
        channel: Channel = "reasoning" if reasoning else "content"
        if channel != self.channel:
            self._flush()
            self._last, self._gap = "", False
            self.channel = channel

    def call_boundary(self) -> None:
        """A section or a call begins or ends here: reasoning is over, and whitespace held back is dropped."""
        let_threads_run()  # an answer may hold a hundred thousand of them
        if "reasoning" in (self.field, self.block_field):
            self._reasoning_over = True
        self._thinking = False
        self._update_channel()
        self._last, self._gap = "", False
        self._calls_seen = True
        self.markup_boundary()

    def markup_boundary(self) -> None:
        """Markup was here: behind a section or a call, whitespace held back is dropped."""
        if self._calls_seen:
            self._held_back = True
            self._whitespace.clear()

    def close_tag(self) -> None:
        """A lone closing tag was here: between two characters that are not blank it leaves a gap."""
        self._gap = self._gap or (self._last != "" and not self._last.isspace())

    def add(self, piece: Piece) -> None:
        self._flush()
        self._pieces.append(piece)

    def whole_calls(self, calls: list[WholeCall]) -> None:
        """Complete calls at once."""
        self.call_boundary()
        self._flush()
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, WholeCalls):
            last.calls += calls
        else:
            self._pieces.append(WholeCalls(calls))

    def close_call(self, truncated: bool) -> None:
        """The open call ends. If it began since the last `take` it becomes a whole call."""
        self._flush()
        pieces = self._pieces
        opened, arguments = pieces[-2:] if len(pieces) > 1 else (None, None)
        if isinstance(opened, CallOpened) and isinstance(arguments, CallArguments) and not truncated:
            del pieces[-2:]
            self.whole_calls([(opened.original_id, opened.name, arguments.text)])
        else:
            pieces.append(CallClosed(truncated))
            self.call_boundary()

    def drop(self, kind: object, markup: str) -> None:
        """Stray markup is removed; only the first of each kind is reported."""
        let_threads_run()
        if kind not in self._noted:
            self._noted.add(kind)
            self._pieces.append(Dropped(markup, STRAY))

    def has_noted(self, kinds: Set[object]) -> bool:
        """Whether dropped markup of all these kinds was reported already."""
        return kinds <= self._noted

    def take(self) -> list[Piece]:
        """The pieces since the last `take`."""
        self._flush()
        taken, self._pieces = self._pieces, []
        return taken

    def _flush(self) -> None:
        if self._texts:
            self._pieces.append(Text(self.channel, "".join(self._texts)))
            self._texts.clear()
        if self._arguments:
            self._pieces.append(CallArguments("".join(self._arguments)))
            self._arguments.clear()
