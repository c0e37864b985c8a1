"""How much of a schema is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moongate.kimi.schema.keywords import MAX_DEPTH

MAX_LEVELS: Final = 80  # of any nesting; keeps the recursion far from Python's limit

STEPS_PER_PLACE: Final = 5  # what one takes to be rewritten, beside its keywords


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of a schema is kept."""

    depth: int = MAX_DEPTH  # objects below this depth lose their properties
    levels: int = MAX_LEVELS  # what is nested deeper in any way says nothing
    copies: bool = True  # may anything be written more often than it came?
    references: bool = True  # else they say nothing
