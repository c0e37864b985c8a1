"""Schemas that no detail level could send as they are nested: what is too deep to be sent is cut off first."""

from __future__ import annotations

from typing import Any, Final

from moongate.kimi.schema.keywords import MAX_PROPERTIES
from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import JsonObject

MAX_NESTING: Final = 200  # of objects and lists; the JSON library writes no deeper ones quickly


def is_too_wide(root: JsonObject) -> bool:
    """Has the root alone more properties than Moonshot takes?"""
    properties = root.get("properties")
    return isinstance(properties, dict) and len(properties) > MAX_PROPERTIES


def pruned(root: JsonObject, steps: StepBudget) -> JsonObject:
    """`root` with `true`, which takes in everything, for what is nested too deep; the same object if nothing is."""
    deepest = _at_depth(root, MAX_NESTING, steps)
    if not deepest:
        return root
    result: JsonObject = _copy(root, 0, steps)
    return result


def _at_depth(root: JsonObject, depth: int, steps: StepBudget) -> list[Any]:
    """What is nested so deep."""
    layer: list[Any] = [root]
    for _ in range(depth):
        steps.take(len(layer))
        layer = [
            inner
            for value in layer
            for inner in (value.values() if isinstance(value, dict) else value)
            if inner.__class__ is dict or inner.__class__ is list
        ]
        if not layer:
            break
    return layer


def _copy(value: Any, depth: int, steps: StepBudget) -> Any:
    if not isinstance(value, (dict, list)):
        return value
    if depth == MAX_NESTING:
        return True
    steps.take(1)
    if isinstance(value, dict):
        return {key: _copy(inner, depth + 1, steps) for key, inner in value.items()}
    return [_copy(inner, depth + 1, steps) for inner in value]
