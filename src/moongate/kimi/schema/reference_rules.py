"""What Moonshot's validator wants of the references of a schema, once each node for itself is good.

It follows every `$ref` outside `$defs`, also those in keywords that it does not know: the target must exist, must not
repeat a keyword of the place that refers to it, and must be able to end; if the root can, nothing else has to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moongate.kimi.schema.finite_places import FinitePlaces
from moongate.kimi.schema.keywords import ANNOTATIONS
from moongate.kimi.schema.node_rules import DEFINITION
from moongate.kimi.schema.paths import Path
from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import JsonObject

ENDLESS: Final = "detected infinite recursion without termination condition"
TYPE_AND_UNION: Final = (
    "invalid schema after $ref expansion: "
    "(when using anyOf, type should be defined in anyOf items instead of the parent schema)"
)

Finding = tuple[Path, str]  # the place, and what is wrong
Expansion = tuple[JsonObject, frozenset[str]]  # the last schema of a chain, and the annotations of those before it


class ReferenceRules:
    """The references of one schema."""

    def __init__(self, root: JsonObject, ultra: bool, steps: StepBudget) -> None:
        self._root = root
        self._ultra = ultra
        self._steps = steps
        self._targets: dict[str, JsonObject | None] = {}
        self._expansions: dict[str, Expansion | str] = {}

    def resolve(self, ref: str) -> JsonObject | None:
        """The target of `#` or `#/$defs/…`, step by step through objects; None if there is none."""
        if ref in self._targets:
            return self._targets[ref]
        here: Any = self._root
        if ref != "#":
            parts = ref[2:].split("/")
            self._steps.take(len(parts))
            for part in parts:
                here = here.get(part) if isinstance(here, dict) else None
        found = self._targets[ref] = here if isinstance(here, dict) else None
        return found

    def finding(self, mentioned: dict[str, None]) -> Finding | None:
        """What is wrong, if anything; `mentioned` are the references that stand in schemas."""
        for ref in mentioned:
            if self.resolve(ref) is None:
                return None, f"invalid $ref path: {ref}"
        finite = FinitePlaces(self.resolve, self._steps)
        must_end = not finite.ends(self._root)
        for path, schema, checked in self._places(must_end):
            found = self._place_complaint(path, schema, finite if checked else None)
            if found is not None:
                return found
        return None

    def _places(self, must_end: bool) -> Iterator[tuple[Path, JsonObject, bool]]:
        """Every object with a `$ref` that the validator comes across, and whether it has to end."""
        waiting: list[tuple[Path, JsonObject, bool]] = [(None, self._root, must_end)]
        while waiting:
            path, schema, checked = waiting.pop()
            self._steps.take(1 + len(schema))
            if "$ref" in schema:
                yield path, schema, checked
            for key, value in schema.items():
                if key == "$defs":
                    continue
                if isinstance(value, dict):
                    waived = key == "additionalProperties" or (key == "properties" and schema.get("required") == [])
                    waiting.append(((path, key), value, checked and not waived))
                elif key == "anyOf" and isinstance(value, list):
                    waiting += [((path, key), branch, checked) for branch in value if isinstance(branch, dict)]

    def _place_complaint(self, path: Path, schema: JsonObject, finite: FinitePlaces | None) -> Finding | None:
        """`finite` is there if the place has to end."""
        ref = schema[
            "$ref"
        ]  # null only in a keyword that the validator does not know: it takes the place for its target
        expansion = (schema, frozenset[str]()) if ref is None else self._expand(ref)
        if isinstance(expansion, str):
            return (None, "$ref") if expansion == _REMOTE else path, expansion
        target, annotations = expansion
        outer = schema.keys() - {"$ref"} if self._ultra else schema.keys() - _ALIAS
        both = (target.keys() | annotations) & outer
        if both:
            return path, (
                f"conflicting keywords found after $ref expansion: keywords ({', '.join(sorted(both))}) are defined "
                'both alongside "$ref" and in the referenced schema; remove the duplicates'
            )
        if ("anyOf" in schema and "type" in target) or ("type" in schema and "anyOf" in target):
            return path, TYPE_AND_UNION
        branches = target.get("anyOf")
        outer = outer - {"anyOf"}
        if outer and isinstance(branches, list):
            self._steps.take(len(branches))
            for branch in branches:
                both = outer & branch.keys() if isinstance(branch, dict) else set()
                if both:
                    return path, f"conflicting keywords found in anyOf after ref expansion: {', '.join(sorted(both))}"
        if path is not None and not _may_refer(path):
            return path, "$ref is not allowed in this schema."
        return None if finite is None or finite.ends(target) else (path, ENDLESS)

    def _expand(self, ref: Any) -> Expansion | str:
        """Where a chain of bare references ends, or what is wrong with it."""
        chain: dict[str, None] = {}
        result: Expansion | str | None = None
        while result is None:
            if not isinstance(ref, str):
                result = "$ref must be a string"
            elif ref != "#" and not ref.startswith(DEFINITION):
                result = _REMOTE
            elif (target := self.resolve(ref)) is None:
                result = f"invalid $ref path: {ref}"
            elif ref in self._expansions:
                result = self._expansions[ref]
            elif ref in chain or target.get("$ref") is None or not _ALIAS.issuperset(target):
                result = self._expansions[ref] = (target, frozenset())
            else:
                self._steps.take(1)
                chain[ref] = None
                ref = target["$ref"]
        for link in reversed(chain):
            if isinstance(result, tuple):
                own = ANNOTATIONS.intersection(self._targets[link] or ())
                twice = own & result[1]
                if twice and self._ultra:
                    result = f"conflicting keywords found after $ref expansion: {min(twice)}"
                else:
                    result = (result[0], result[1] | own)
            self._expansions[link] = result
        return result


_REMOTE: Final = "only local references are supported"
_ALIAS: Final = ANNOTATIONS | {"$ref"}


def _may_refer(path: Path) -> bool:
    assert path is not None
    before, last = path
    return (
        before is None
        or last in ("additionalProperties", "items")
        or last.startswith("anyOf")
        or before[1] == "properties"
    )
