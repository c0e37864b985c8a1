"""One block of an answer: a stretch of reasoning, of text, or a call."""

from __future__ import annotations

from typing import Literal

from moongate.dialects.nesting import Nesting

Kind = Literal["reasoning", "text", "call"]


class Block:
    """One block. `pieces`: a call's arguments so far, and whatever waits for the block's turn."""

    __slots__ = ("id", "kind", "name", "nesting", "pieces", "shut")

    def __init__(self, kind: Kind, pieces: list[str] | None = None) -> None:
        self.kind = kind
        self.id = ""
        self.name = ""
        self.pieces = [] if pieces is None else pieces
        self.nesting: Nesting | None = None
        self.shut = False

    def done(self) -> bool:
        """May the next block begin? Text ends whenever something else comes, a call with its JSON."""
        if self.kind != "call":
            return True
        if self.nesting is None:  # it begins to matter only when another block wants its place
            self.nesting = Nesting()
            self.nesting.feed("".join(self.pieces))
        return self.nesting.complete
