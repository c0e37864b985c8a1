"""Places that Moonshot's validator looks up a second time by their path.

In such a path `anyOf{0}` is a branch, so a name with both braces above the place is taken for one, and not found.
"""

from __future__ import annotations

from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import JsonObject


def has_braces(name: str) -> bool:
    """Would the validator take this name for a branch of a union?"""
    return "{" in name and "}" in name


def is_looked_up(schema: JsonObject) -> bool:
    """Does the validator look up this node, which is good otherwise?"""
    return "enum" in schema or "anyOf" in schema or schema.get("$ref", "#") != "#" or bool(schema.get("required"))


def any_looked_up(schema: JsonObject, steps: StepBudget) -> bool:
    """Is there such a node in `schema`, itself included?"""
    waiting: list[object] = [schema]
    while waiting:
        here = waiting.pop()
        if not isinstance(here, dict):
            continue
        steps.take(1 + len(here))
        if is_looked_up(here):
            return True
        properties = here.get("properties")
        waiting += properties.values() if isinstance(properties, dict) else ()
        waiting += here.get("items"), here.get("additionalProperties")
    return False
