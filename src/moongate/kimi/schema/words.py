"""The words of Moonshot's JSON Schema flavour, which word speaks of which type, and the limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moongate.payload import JsonObject

SIX_TYPES: Final = ("string", "number", "boolean", "object", "array", "null")
TYPES: Final = frozenset({*SIX_TYPES, "integer"})

ANNOTATIONS: Final = ("title", "description", "default")
_ALWAYS: Final = frozenset({"type", *ANNOTATIONS})

WORDS_OF: Final[Mapping[str, frozenset[str]]] = {
    "object": _ALWAYS | {"properties", "required", "additionalProperties"},
    "array": _ALWAYS | {"items", "minItems", "maxItems"},
    "string": _ALWAYS | {"enum", "minLength", "maxLength"},
    "number": _ALWAYS | {"enum", "minimum", "maximum"},
    "integer": _ALWAYS | {"enum", "minimum", "maximum"},
    "boolean": _ALWAYS | {"enum"},
    "null": _ALWAYS,
}
WORDS: Final = frozenset[str]().union(*WORDS_OF.values())
UNION_WORDS: Final = frozenset({"anyOf", *ANNOTATIONS})
STRUCTURE: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "const", "prefixItems", "patternProperties"})
ROOT_WORDS: Final = WORDS_OF["object"] | {"$defs"}

LOWER_BOUNDS: Final = ("minLength", "minItems", "minimum")
UPPER_BOUNDS: Final = ("maxLength", "maxItems", "maximum")
BOUNDS: Final = tuple(zip(LOWER_BOUNDS, UPPER_BOUNDS, strict=True))

MAX_DEPTH: Final = 30  # `properties` inside `properties`; `items` and `anyOf` do not count
MAX_SIZE: Final = 120_000
MAX_PROPERTY_KEYS: Final = 3000
MAX_ENUM_ITEMS: Final = 1000
MAX_BRANCHES: Final = 500


def anything() -> JsonObject:
    """The schema that takes every value: any of the six types. A new object each time."""
    return {"anyOf": [{"type": name} for name in SIX_TYPES]}


def type_of(value: Any) -> str:
    """The type of a JSON value; whole numbers written without a fraction are integers."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if value is None:
        return "null"
    return "object" if isinstance(value, dict) else "array"


def has_type(value: Any, name: str) -> bool:
    """Is `value` of the type `name`, as JSON Schema counts (1.0 is an integer, 1 is a number)?"""
    found = type_of(value)
    if name == "number":
        return found in ("integer", "number")
    return found == name or (name == "integer" and found == "number" and value.is_integer())


def is_bound(word: str, value: Any) -> bool:
    """May `value` stand for this lower or upper bound?"""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return word in ("minimum", "maximum") or (value >= 0 and (isinstance(value, int) or value.is_integer()))
