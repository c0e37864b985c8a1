"""Which places of a schema can end: a finite value fits them, as far as Moonshot sees.

A scalar ends, and so do an object that requires nothing and an array without items. Any other place ends if one of its
required properties, its items, one of its branches or the target of its reference does. One way out is enough, so this
is a search backwards from the places that end, in one pass for all of them. A reference may lead into a keyword that
Moonshot passes over: such a place may hold anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import JsonObject


class FinitePlaces:
    """The places that were asked for and those behind them. `resolve` finds the target of a reference."""

    def __init__(self, resolve: Callable[[str], JsonObject | None], steps: StepBudget) -> None:
        self._resolve = resolve
        self._steps = steps
        self._before: dict[int, list[int]] = {}  # by place: which places end if this one does
        self._ending: set[int] = set()
        self.places: dict[int, JsonObject] = {}  # by identity, in the order in which they were found

    def ends(self, schema: JsonObject) -> bool:
        """Does this place end?"""
        self._search(schema)
        return id(schema) in self._ending

    def mark(self, place: int) -> None:
        """Let a place end, and all that end through it."""
        waiting = [place]
        while waiting:
            here = waiting.pop()
            if here not in self._ending:
                self._ending.add(here)
                self._steps.take(1)
                waiting += self._before.get(here, ())

    def _search(self, start: JsonObject) -> None:
        waiting = [start]
        while waiting:
            schema = waiting.pop()
            place = id(schema)
            if place in self.places:
                continue
            self.places[place] = schema
            self._steps.take(1)
            if _ends_here(schema):
                self.mark(place)
                continue
            ways = list(self._ways(schema))
            self._steps.take(len(ways))
            for way in ways:
                self._before.setdefault(id(way), []).append(place)
            if any(id(way) in self._ending for way in ways):
                self.mark(place)
            waiting += reversed(ways)

    def _ways(self, schema: JsonObject) -> Iterator[JsonObject]:
        """The schemas of which it is enough that one ends."""
        kind = _kind(schema)
        if kind == "array":
            yield from _schemas((schema["items"],))
        elif kind == "object" and isinstance(schema["required"], list):
            properties = schema["properties"]
            if all(isinstance(inner, dict) for inner in properties.values()):
                yield from (properties[name] for name in schema["required"] if _is_key(name, properties))
        branches = schema.get("anyOf")
        if isinstance(branches, list):
            yield from _schemas(branches)
        ref = schema.get("$ref")
        target = self._resolve(ref) if isinstance(ref, str) else None
        if target is not None:
            yield target


def _schemas(values: Iterable[Any]) -> Iterator[JsonObject]:
    return (value for value in values if isinstance(value, dict))


def _is_key(name: object, properties: JsonObject) -> bool:
    return isinstance(name, str) and name in properties


def _kind(schema: JsonObject) -> object:
    kind = schema.get("type")
    return kind[-1] if isinstance(kind, list) and kind else kind


def _ends_here(schema: JsonObject) -> bool:
    """Does it end without a look at the schemas inside it?"""
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if isinstance(kind, str) and kind not in ("object", "array"):
            return True
    kind = _kind(schema)
    if kind == "array" and schema.get("items") in (None, {}):
        return True
    if kind == "object" and (schema.get("required") in (None, []) or not _has_properties(schema)):
        return True
    return not schema or schema.get("anyOf") == []


def _has_properties(schema: JsonObject) -> bool:
    properties = schema.get("properties")
    return isinstance(properties, dict) and bool(properties)
