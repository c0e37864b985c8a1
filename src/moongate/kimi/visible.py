"""What the client sees of one field: text of a channel, calls, and blanks that wait for text (section 5.5)."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from moongate.kimi.pieces import (
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

# Why markup was removed.
STRAY: Final = "a marker outside a call"
FORBIDDEN: Final = "no call may be made here"
NAMELESS: Final = "the call names no tool"


class Visible:
    """Collects the pieces of one `feed`. Neighbouring texts of one channel, or of one call, become one piece."""

    __slots__ = ("_after", "_arguments", "_blanks", "_noted", "_pieces", "_texts", "channel", "flows")

    def __init__(self, channel: Channel) -> None:
        self.channel: Channel = channel
        self._pieces: list[Piece] = []
        self._texts: list[str] = []
        self._arguments: list[str] = []  # of the open call
        self._after = False  # a section or a call was seen: stretches of blanks are dropped
        self.flows = True  # any text leaves at once: no such stretch can begin here
        self._blanks: list[str] = []
        self._noted: set[object] = set()

    def say(self, text: str) -> None:
        if not self.flows:
            if text.isspace():
                self._blanks.append(text)
                return
            self._texts += self._blanks
            self._blanks.clear()
            self.flows = True
        self._texts.append(text)

    def argue(self, text: str) -> None:
        """The next part of the open call's arguments."""
        if text:
            self._arguments.append(text)

    def turn(self, channel: Channel) -> None:
        """What follows belongs to this channel."""
        if channel != self.channel:
            self._flush()
            self.channel = channel

    def after(self) -> None:
        """A section or a call begins or ends here: reasoning is over, a stretch of blanks ends."""
        self.turn("content")
        self._after = True
        self.pause()

    def pause(self) -> None:
        """Markup stood here: a stretch of blanks ends."""
        if self._after:
            self.flows = False
            self._blanks.clear()

    def add(self, piece: Piece) -> None:
        self._flush()
        self._pieces.append(piece)

    def calls(self, calls: list[WholeCall]) -> None:
        """Whole calls at once."""
        self.after()
        self._flush()
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, WholeCalls):
            last.calls += calls
        else:
            self._pieces.append(WholeCalls(calls))

    def close_call(self, cut: bool) -> None:
        """The open call ends. If it began since the last `take` it leaves as a whole one."""
        self._flush()
        pieces = self._pieces
        opened, said = pieces[-2:] if len(pieces) > 1 else (None, None)
        if isinstance(opened, CallOpened) and isinstance(said, CallArguments) and not cut:
            del pieces[-2:]
            self.calls([(opened.given, opened.name, said.text)])
        else:
            pieces.append(CallClosed(cut))
            self.after()

    def drop(self, kind: object, markup: str) -> None:
        """Stray markup leaves nothing but, the first time that its kind comes, a word on it."""
        if kind not in self._noted:
            self._noted.add(kind)
            self._pieces.append(Dropped(markup, STRAY))

    def knows(self, kinds: Set[object]) -> bool:
        """Was there a word on all of these already?"""
        return kinds <= self._noted

    def take(self) -> list[Piece]:
        """The pieces since the last time."""
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
