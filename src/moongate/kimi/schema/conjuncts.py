"""What holds at one place of a schema: its own words, those of its `allOf`, and those that references lead to.

What references lead to is written again, and that is paid from a budget: what the host takes, less what was written
before. When it is spent, references stay references. So a schema that doubles with each definition cannot explode.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moongate.kimi.schema.merging import plain, together
from moongate.kimi.schema.references import References, Target
from moongate.kimi.schema.words import MAX_SIZE
from moongate.payload import JsonObject, dumps


@dataclass(slots=True)
class Place:
    """What was found: the words that hold, and the targets that they came from."""

    words: JsonObject
    followed: set[str] = field(default_factory=set)
    bare: Target | None = None  # a reference that has to stay one, instead of the words
    affordable: bool = True  # False: it stays one only because the budget is spent


class Conjuncts:
    """The places of one schema, with one budget for all of them. Not `copying`: the budget is spent already."""

    def __init__(self, references: References, *, copying: bool = True) -> None:
        self._references = references
        self._left = None if copying else 0  # None: not counted yet, since most schemas need none
        self._left_at_root = MAX_SIZE  # the root cannot be a reference, so it has a budget of its own
        self._costs: dict[str, int] = {}

    def afford(self, cost: int) -> bool:
        """Take `cost` bytes from the budget, if they are there."""
        if self._left is None:
            self._left = MAX_SIZE - len(dumps(self._references.root))
        if cost > self._left:
            return False
        self._left -= cost
        return True

    def at(self, schema: JsonObject, inside: set[str]) -> Place:
        """What holds at `schema`, which stands inside the targets `inside`: a reference to one of them stays."""
        parts: list[JsonObject] = []
        targets = self._flatten(schema, parts)
        if not parts and len(targets) == 1:
            return Place({}, bare=targets[0])
        place = Place({})
        waiting = list(reversed(targets))
        while waiting:
            target = waiting.pop()
            if target.is_root or target.key in inside:
                return Place({}, bare=target)
            if target.key in place.followed:
                continue
            if not self.afford(self.cost(target)):
                return Place(together(parts), bare=target, affordable=False)
            place.followed.add(target.key)
            waiting += reversed(self._flatten(target.schema, parts))
        place.words = together(parts)
        return place

    def at_root(self, schema: Any, inside: set[str]) -> Place:
        """The same at the root, where nothing stays: what cannot be followed is left out, which takes in more."""
        parts: list[JsonObject] = []
        followed: set[str] = set()
        waiting = list(reversed(self._flatten(schema, parts)))
        while waiting:
            target = waiting.pop()
            if target.is_root or target.key in inside or target.key in followed:
                continue
            cost = self.cost(target)
            if cost <= self._left_at_root:
                self._left_at_root -= cost
                followed.add(target.key)
                waiting += reversed(self._flatten(target.schema, parts))
        return Place(together(parts), followed)

    def _flatten(self, schema: Any, parts: list[JsonObject]) -> list[Target]:
        """Add the words of `schema` and of its `allOf` to `parts`; the targets of the references that stand there."""
        targets = []
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict):
                continue  # true says nothing
            words = plain(part)
            if words:
                parts.append(words)
            ref = part.get("$ref")
            target = self._references.find(ref) if isinstance(ref, str) else None
            if target is not None:
                targets.append(target)
            members = part.get("allOf")
            if isinstance(members, list):
                waiting += reversed(members)
        return targets

    def cost(self, target: Target) -> int:
        """How many bytes it takes to write `target` once more."""
        cost = self._costs.get(target.key)
        if cost is None:
            cost = self._costs[target.key] = len(dumps(target.schema))
        return cost
