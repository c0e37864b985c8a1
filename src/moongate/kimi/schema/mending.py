"""Single words whose values the flavour does not take: left out, or cut down to what it takes.

Every function gives the same object back if there is nothing to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moongate.kimi.schema.words import MAX_ENUM_ITEMS, has_type, is_bound, type_of
from moongate.payload import JsonObject

_BOUNDS_OF: Final[Mapping[str, tuple[str, str]]] = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
}

_CLASSES_OF: Final[Mapping[str, frozenset[type]]] = {
    "string": frozenset({str}),
    "number": frozenset({int, float}),
    "integer": frozenset({int}),
    "boolean": frozenset({bool}),
}


def without(schema: JsonObject, *words: str) -> JsonObject:
    return {word: value for word, value in schema.items() if word not in words}


def mended(schema: JsonObject, kind: str = "") -> JsonObject:
    """`schema` without texts that are none and, for a scalar or array of type `kind`, with a good enum and bounds."""
    for word in ("title", "description"):
        if word in schema and schema[word].__class__ is not str:
            schema = without(schema, word)
    if "enum" in schema:
        schema = _with_good_enum(schema, kind)
    bounds = _BOUNDS_OF.get(kind)
    return _with_good_bounds(schema, *bounds) if bounds else schema


def _with_good_enum(schema: JsonObject, kind: str) -> JsonObject:
    values = schema["enum"]
    if (
        values.__class__ is list
        and 0 < len(values) <= MAX_ENUM_ITEMS
        and _CLASSES_OF[kind].issuperset(map(type, values))
    ):
        return schema
    fitting = fitting_values(values, kind)
    if not fitting or len(fitting) > MAX_ENUM_ITEMS:
        return without(schema, "enum")
    return schema if len(fitting) == len(values) else {**schema, "enum": fitting}


def _with_good_bounds(schema: JsonObject, lower: str, upper: str) -> JsonObject:
    for word in (lower, upper):
        if word in schema and not is_bound(word, schema[word]):
            schema = without(schema, word)
    if lower in schema and upper in schema and schema[lower] > schema[upper]:
        return without(schema, lower, upper)  # nothing could ever fit
    return schema


def with_known_required(schema: JsonObject) -> JsonObject:
    """`schema`, an object with `required`, which names only properties that there are, each once."""
    required, properties = schema["required"], schema.get("properties", {})
    if required.__class__ is not list:
        return without(schema, "required")
    if all(name.__class__ is str for name in required) and len(set(required) & properties.keys()) == len(required):
        return schema
    known = list(dict.fromkeys(name for name in required if name.__class__ is str and name in properties))
    return {**schema, "required": known} if known else without(schema, "required")


def fitting_values(values: Any, kind: str) -> list[Any]:
    """The values of an enum that are of the type `kind`."""
    return [value for value in values if has_type(value, kind)] if values.__class__ is list else []


def enum_types(values: Any) -> list[str]:
    """The types of an enum's values. Null counts only if there is nothing else."""
    if values.__class__ is not list:
        return []
    types = without_integer(list(dict.fromkeys(map(type_of, values))))
    return [name for name in types if name != "null"] or types


def without_integer(types: list[str]) -> list[str]:
    """`types` without "integer" if "number", which takes it in, is there too."""
    return [name for name in types if name != "integer"] if "number" in types else types
