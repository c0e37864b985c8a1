"""The keywords and types of Moonshot's JSON Schema flavour, and the limits of its validator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from moongate.payload import JsonObject

Level = Literal["strict", "ultra"]  # what the server refuses; the strictest that the validator has

SEVEN_TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")
TYPES: Final = frozenset(SEVEN_TYPES)
SCALAR_TYPES: Final = TYPES - {"object", "array"}

ANNOTATIONS: Final = frozenset({"title", "description"})
ROOT_ONLY: Final = frozenset({"$defs", "$id"})
_ALWAYS: Final = frozenset({"type", "default", *ANNOTATIONS})

KEYWORDS_OF: Final[Mapping[str, frozenset[str]]] = {
    "object": _ALWAYS | {"properties", "required", "additionalProperties"},
    "array": _ALWAYS | {"items", "minItems", "maxItems"},
    "string": _ALWAYS | {"enum", "minLength", "maxLength", "pattern"},
    "number": _ALWAYS | {"enum", "minimum", "maximum"},
    "integer": _ALWAYS | {"enum", "minimum", "maximum"},
    "boolean": _ALWAYS | {"enum"},
    "null": _ALWAYS | {"enum"},
}
TYPED_KEYWORDS: Final = frozenset[str]().union(*KEYWORDS_OF.values())
KEYWORDS: Final = TYPED_KEYWORDS | ROOT_ONLY | {"anyOf", "$ref"}

LOWER_BOUNDS: Final = ("minLength", "minItems", "minimum")
UPPER_BOUNDS: Final = ("maxLength", "maxItems", "maximum")
VALUES: Final = frozenset({"default", *LOWER_BOUNDS, *UPPER_BOUNDS})  # unchecked where no type says what they are
BOUNDS_OF: Final[Mapping[str, tuple[str, str]]] = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
}

RESERVED_PROPERTIES: Final = frozenset({"$defs", "$ref", "anyOf", "required", "additionalProperties"})

MAX_DEPTH: Final = 30  # `properties` inside `properties`, references followed; `items` and `anyOf` do not count
MAX_SIZE: Final = 120_000
MAX_PROPERTIES: Final = 3000
MAX_BRANCHES: Final = 500
MAX_ENUM_VALUES: Final = 1000
LONG_ENUM: Final = 250  # an enum of more values than this may have
MAX_ENUM_SIZE: Final = 15_000  # bytes of UTF-8 in all of them together, at most
MAX_NUMBER: Final = 2**53 - 1


def anything() -> JsonObject:
    """The schema that takes every value: any of the seven types. A new object each time."""
    return {"anyOf": [{"type": name} for name in SEVEN_TYPES]}


def type_of(value: Any) -> str:
    """The type of a JSON value; numbers written without a fraction are integers."""
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


def is_number(value: Any) -> bool:
    return value.__class__ is int or value.__class__ is float


def enum_value_size(value: Any) -> int:
    """How long Moonshot finds a value of an enum: bytes of a text, digits of a number."""
    return len(value.encode("utf-8", "surrogatepass") if value.__class__ is str else f"{value}")
