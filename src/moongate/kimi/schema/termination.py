"""Schemas that Moonshot refuses because they cannot end: a required property that contains itself loses that.

Such a schema has no finite instance at all, or Moonshot does not see that it has one, because a type is missing.
"""

from __future__ import annotations

from moongate.kimi.schema.finite_places import FinitePlaces
from moongate.kimi.schema.keywords import anything
from moongate.kimi.schema.reference_rules import ReferenceRules
from moongate.kimi.schema.step_budget import StepBudget
from moongate.kimi.schema.values import annotations_of, without
from moongate.payload import JsonObject


def terminating(root: JsonObject, steps: StepBudget) -> JsonObject:
    """`root`, which is good but for this, so that it ends. Innermost places are changed first."""
    finite = FinitePlaces(ReferenceRules(root, True, steps).resolve, steps)
    news: dict[int, JsonObject] = {}
    for dropped in ("required", "items"):
        if finite.ends(root):
            break
        for place, schema in reversed(finite.places.items()):
            new = _ended(schema, dropped) if not finite.ends(schema) else None
            if new is not None:
                news[place] = new
                finite.mark(place)
    return _replaced(root, news, steps)


def _ended(schema: JsonObject, dropped: str) -> JsonObject | None:
    """`schema` so that it ends, if it can be made to without `dropped`."""
    if schema.get("type") in ("object", ["object"]):
        return without(schema, "required")
    if schema.keys().isdisjoint(("type", "$ref", "anyOf")):
        if "properties" in schema:
            return {**without(schema, "items"), "type": "object"}
        return {**annotations_of(schema), **anything()}
    return without(schema, "items") if dropped == "items" and "items" in schema else None


def _replaced(schema: JsonObject, news: dict[int, JsonObject], steps: StepBudget) -> JsonObject:
    """`schema` with the places in `news` replaced, wherever they stand; what has none of them is the same object."""
    steps.take(1 + len(schema))
    schema = news.get(id(schema), schema)
    changed: JsonObject = {}
    for keyword in ("properties", "$defs"):
        named = schema.get(keyword)
        if isinstance(named, dict):
            new = {name: _replaced(inner, news, steps) for name, inner in named.items()}
            if any(new[name] is not named[name] for name in named):
                changed[keyword] = new
    for keyword in ("items", "additionalProperties"):
        inner = schema.get(keyword)
        if isinstance(inner, dict):
            other = _replaced(inner, news, steps)
            if other is not inner:
                changed[keyword] = other
    branches = schema.get("anyOf")
    if isinstance(branches, list):
        others = [_replaced(branch, news, steps) for branch in branches]
        if any(new is not branch for new, branch in zip(others, branches, strict=True)):
            changed["anyOf"] = others
    return {**schema, **changed} if changed else schema
