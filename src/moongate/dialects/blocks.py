"""One block of an answer: some reasoning, some text, or a call."""

from __future__ import annotations

from typing import Literal

from moongate.dialects.nesting import Nesting

Kind = Literal["reasoning", "text", "call"]


class Block:
    """One block.

    `custom`: a call of a custom tool. `pieces`: a call's arguments so far, and whatever is held back until the block
    is open.
    """

    __slots__ = ("custom", "id", "kind", "name", "nesting", "pieces", "shut")

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.custom = False
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.nesting: Nesting | None = None
        self.shut = False

    def done(self) -> bool:
        """May the next block begin? Text ends whenever something else comes, a call with its JSON."""
        if self.kind != "call":
            return True
        if self.nesting is None:  # made only when another block is waiting for the end of this one
            self.nesting = Nesting()
            self.nesting.feed("".join(self.pieces))
        return self.nesting.complete
