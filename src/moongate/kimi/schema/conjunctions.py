"""What holds at one place of a schema: its own keywords, those of its `allOf`, and those that references lead to.

Whatever is written more often than in the schema that came is paid from a budget of bytes; when it is spent,
references stay references, keywords beside a union are left out, and of unions that hold together only the first one
stays. All of that only takes in more values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from moongate.kimi.schema.keywords import ANNOTATIONS, TYPED_KEYWORDS
from moongate.kimi.schema.merging import together
from moongate.kimi.schema.references import References, ReferenceTarget
from moongate.kimi.schema.step_budget import StepBudget
from moongate.kimi.schema.values import without
from moongate.payload import JsonObject, dumps

MAX_CROSSED_BRANCHES: Final = 16  # unions that hold together are multiplied out up to this many branches

_BYTES_PER_STEP: Final = 256
_OTHER_SPELLINGS: Final = frozenset({"const", "oneOf", "anyOf", "prefixItems", "patternProperties"})


class CopyBudget:
    """How many bytes may be written in addition to those that came."""

    __slots__ = ("_left", "_steps")

    def __init__(self, limit: int, steps: StepBudget) -> None:
        self._left = limit
        self._steps = steps

    @property
    def is_spent(self) -> bool:
        return self._left == 0

    def size(self, value: Any) -> int:
        """How many bytes it takes to write `value`."""
        if self.is_spent:
            return 1
        size = len(dumps(value))
        self._steps.take(1 + size // _BYTES_PER_STEP)
        return size

    def pay(self, cost: int) -> bool:
        """Take `cost` bytes, if they are there."""
        if cost > self._left:
            return False
        self._left -= cost
        return True


@dataclass(slots=True)
class Conjunction:
    """What was found: the keywords that hold, or a reference that stays one, with its annotations as keywords."""

    keywords: JsonObject
    followed: set[str] = field(default_factory=set)  # the targets that the keywords came from
    reference: ReferenceTarget | None = None


class Conjunctions:
    """The places of one schema. Not `following`: references say nothing."""

    def __init__(self, references: References, copies: CopyBudget, steps: StepBudget, *, following: bool) -> None:
        self._references = references
        self._copies = copies
        self._steps = steps
        self._following = following
        self._costs: dict[str, int] = {}

    def at(self, schema: JsonObject, inside: set[str]) -> Conjunction:
        """What holds at `schema`, which stands inside the targets `inside`: a reference to one of them stays."""
        parts: list[JsonObject] = []
        targets = self._flatten(schema, parts)
        own = self._together(parts)
        if len(targets) == 1 and (ANNOTATIONS.issuperset(own) or _adds_nothing(own, targets[0].schema)):
            return Conjunction(own, reference=targets[0])
        followed: set[str] = set()
        waiting = targets[::-1]
        while waiting:
            target = waiting.pop()
            if target.key in followed:
                continue
            if target.is_root or target.key in inside or not self.afford(target):
                return Conjunction(own, reference=target)
            followed.add(target.key)
            waiting += self._flatten(target.schema, parts)[::-1]
        return Conjunction(own if not followed else self._together(parts), followed)

    def at_root(self, schema: Any, inside: set[str]) -> Conjunction:
        """The same at the root, where no reference stays: what cannot be followed is left out."""
        parts: list[JsonObject] = []
        followed: set[str] = set()
        waiting = self._flatten(schema, parts)[::-1]
        while waiting:
            target = waiting.pop()
            if target.is_root or target.key in inside or target.key in followed or not self.afford(target):
                continue
            followed.add(target.key)
            waiting += self._flatten(target.schema, parts)[::-1]
        return Conjunction(self._together(parts), followed)

    def afford(self, target: ReferenceTarget) -> bool:
        """May `target` be written once more?"""
        cost = self._costs.get(target.key)
        if cost is None:
            cost = self._costs[target.key] = self._copies.size(target.schema)
        return self._copies.pay(cost)

    def _flatten(self, schema: Any, parts: list[JsonObject]) -> list[ReferenceTarget]:
        """Add the keywords of `schema` and of its `allOf` to `parts`; the targets of the references there."""
        targets = []
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict):
                continue  # true says nothing
            self._steps.take(3 + len(part))
            keywords = self.plain(part)
            if keywords:
                parts.append(keywords)
            ref = part.get("$ref")
            target = self._references.find(ref) if isinstance(ref, str) and self._following else None
            if target is not None:
                targets.append(target)
            members = part.get("allOf")
            if isinstance(members, list):
                waiting += reversed(members)
        return targets

    def _together(self, parts: list[JsonObject]) -> JsonObject:
        unions = [part["anyOf"] for part in parts if "anyOf" in part]
        self._steps.take(sum(map(len, parts)))
        if len(parts) < 2:
            return parts[0] if parts else {}
        merged = together([without(part, "anyOf") if "anyOf" in part else part for part in parts])
        if unions:
            merged = {**merged, "anyOf": self._crossed(unions)}
        return merged

    def plain(self, schema: JsonObject) -> JsonObject:
        """The keywords of `schema` that the flavour has, other spellings of them included (`const`, `oneOf`, tuples).

        References and `allOf` are not among them. Values may still be wrong.
        """
        keywords = {keyword: value for keyword, value in schema.items() if keyword in TYPED_KEYWORDS}
        if "enum" in keywords and not (isinstance(keywords["enum"], list) and keywords["enum"]):
            del keywords["enum"]
        if isinstance(keywords.get("items"), list):
            _untuple(schema, keywords)
        if _OTHER_SPELLINGS.isdisjoint(schema):
            return keywords
        if isinstance(schema.get("prefixItems"), list):
            _untuple(schema, keywords)
        if "const" in schema:
            keywords["enum"] = [schema["const"]]
        if isinstance(schema.get("patternProperties"), dict):
            _take_in_patterns(schema["patternProperties"], keywords)
        unions = [schema[word] for word in ("anyOf", "oneOf") if isinstance(schema.get(word), list) and schema[word]]
        if unions:
            keywords["anyOf"] = self._crossed(unions)
        return keywords

    def _crossed(self, unions: list[list[Any]]) -> list[Any]:
        """One union for several that hold together."""
        product = unions[0]
        for union in unions[1:]:
            if len(product) * len(union) > MAX_CROSSED_BRANCHES:
                continue
            cost = self._copies.size(product) * len(union) + self._copies.size(union) * len(product)
            if self._copies.pay(cost):
                product = [{"allOf": [left, right]} for left in product for right in union]
        return product

    def moved_into(self, branches: list[Any], keywords: JsonObject) -> list[Any]:
        """The branches of a union with the keywords that stood beside it. Its own type stays what a branch has."""
        if keywords.keys() - {"type"} and not self._copies.pay(self._copies.size(keywords) * len(branches)):
            keywords = {"type": keywords["type"]} if "type" in keywords else {}
        if not keywords:
            return branches
        return [branch if branch is False else {"allOf": [branch, keywords]} for branch in branches]


def _adds_nothing(keywords: JsonObject, target: Any) -> bool:
    """Is a type all that stands beside a reference, and the same as that of its target?"""
    return (
        keywords.keys() <= {"type", *ANNOTATIONS}
        and isinstance(target, dict)
        and "type" in target
        and keywords.get("type") == target["type"]
    )


def _untuple(schema: JsonObject, keywords: JsonObject) -> None:
    items = schema.get("items")
    branches = [*(schema["prefixItems"] if isinstance(schema.get("prefixItems"), list) else ())]
    branches += items if isinstance(items, list) else ()
    rest = schema.get("additionalItems") if isinstance(items, list) else items
    if isinstance(rest, dict) and rest:
        branches.append(rest)
    keywords.pop("items", None)
    if branches:
        keywords["items"] = {"anyOf": branches}


def _take_in_patterns(patterns: JsonObject, keywords: JsonObject) -> None:
    """Without its patterns a closed object would refuse the names that they let in."""
    others = keywords.get("additionalProperties", True)
    if others is False:
        branches = list(patterns.values())
    elif isinstance(others, dict) and others:
        branches = [others, *patterns.values()]
    else:
        return
    if len(branches) == 1:
        keywords["additionalProperties"] = branches[0]
    elif branches:
        keywords["additionalProperties"] = {"anyOf": branches}
