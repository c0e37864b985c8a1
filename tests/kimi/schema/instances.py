"""Values that a schema may take, drawn along its keywords; and an independent judge of them (`jsonschema`).

Where section 10 narrows what a schema takes, `readings` writes that into the schema first: an object that requires
properties and has no type is an object, and a tuple has no other elements.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

ODD_VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, 2.5, -1, "", "x", "yy", "2024-01-01", [], [1], ["x", None], {}, {"a": 1}, {"k": 1}),
    {"a": "x", "b": [1]},
]
TEXTS = ["", "x", "yy", "aaaaaaaaaaaa", "2024-01-01"]
NUMBERS = [0, 1, -1, 2, 2.5, 5, 10, 100]
SCALARS: dict[str, list[Any]] = {
    "string": [*TEXTS],
    "number": [*NUMBERS],
    "integer": [*NUMBERS],
    "boolean": [True, False],
    "null": [None],
}


def is_valid(schema: Mapping[str, Any], value: Any) -> bool | None:
    """Does the schema take the value? None if the schema is none that could be judged."""
    try:
        return bool(Draft202012Validator(schema).is_valid(value))
    except Exception:  # wrong types, references to nowhere or endless ones, patterns that are none
        return None


def readings(schema: Any) -> Any:
    """The schema with what section 10 reads into it."""
    if isinstance(schema, list):
        return [readings(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {keyword: readings(value) for keyword, value in schema.items()}
    if "type" not in result and isinstance(result.get("properties"), dict) and isinstance(result.get("required"), list):
        result["type"] = "object"
    first = result.get("prefixItems")
    if isinstance(first, list):
        result["items"] = {"anyOf": [*first, result["items"]]} if result.get("items") else {"anyOf": first}
    return result


def renamed(value: Any, sent: Mapping[str, str]) -> Any:
    """A value with the names of properties that are sent."""
    if isinstance(value, dict):
        return {sent.get(name, name): renamed(inner, sent) for name, inner in value.items()}
    return [renamed(inner, sent) for inner in value] if isinstance(value, list) else value


class Sampler:
    """Draws values along the keywords of one schema; they need not be valid."""

    def __init__(self, root: Any, seed: int) -> None:
        self._root = root
        self._random = random.Random(seed)

    def value(self, schema: Any, depth: int = 0) -> Any:
        choose = self._random.choice
        if not isinstance(schema, dict) or depth > 6 or self._random.random() < 0.08:
            return choose(ODD_VALUES)
        if isinstance(schema.get("$ref"), str) and self._random.random() < 0.8:
            return self.value(self._target(schema["$ref"]), depth + 1)
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = schema.get(keyword)
            if isinstance(branches, list) and branches and self._random.random() < 0.7:
                rest = {word: value for word, value in schema.items() if word not in ("anyOf", "oneOf", "allOf")}
                return _both(self.value(rest, depth + 1), self.value(choose(branches), depth + 1))
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return choose(schema["enum"])
        return self._of_type(schema, depth)

    def _of_type(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list) and kind:
            kind = self._random.choice(kind)
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        if kind == "array" or "items" in schema or "prefixItems" in schema:
            first = schema.get("prefixItems")
            items = first[0] if isinstance(first, list) and first else schema.get("items")
            return [self.value(items, depth + 1) for _ in range(self._random.choice([0, 1, 2, 4]))]
        scalars: dict[str, list[Any]] = {
            "string": TEXTS,
            "number": NUMBERS,
            "integer": NUMBERS,
            "boolean": [True, False],
            "null": [None],
        }
        return self._random.choice(scalars.get(str(kind), ODD_VALUES))

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties, required = schema.get("properties"), schema.get("required")
        properties = properties if isinstance(properties, dict) else {}
        required = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        names = [name for name in properties if name in required or self._random.random() < 0.6] + required
        found = {name: self.value(properties.get(name), depth + 1) for name in names}
        if self._random.random() < 0.3:
            found[self._random.choice(["extra", "xz", "a"])] = self.value(schema.get("additionalProperties"), depth + 1)
        return found

    def _target(self, ref: str) -> Any:
        here = self._root
        for token in ref[2:].split("/") if ref.startswith("#/") else ():
            here = here.get(token.replace("~1", "/").replace("%25", "%")) if isinstance(here, dict) else None
        return here


def _both(left: Any, right: Any) -> Any:
    return {**left, **right} if isinstance(left, dict) and isinstance(right, dict) else right
