"""One block of an answer: a stretch of reasoning, of text, or a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from moongate.dialects.nesting import Nesting

Kind = Literal["reasoning", "text", "call"]


@dataclass(slots=True, eq=False)
class Block:
    """One block. `pieces`: a call's arguments so far, and whatever waits for the block's turn."""

    kind: Kind
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    nesting: Nesting | None = None
    shut: bool = False

    def done(self) -> bool:
        """May the next block begin? Text ends whenever something else comes, a call with its JSON."""
        if self.kind != "call":
            return True
        if self.nesting is None:  # it begins to matter only when another block wants its place
            self.nesting = Nesting()
            self.nesting.feed("".join(self.pieces))
        return self.nesting.complete
