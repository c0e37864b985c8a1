"""Values of single keywords that the flavour does not take: left out, or cut down to what it takes.

Every function gives the same object back if there is nothing to do.
"""

from __future__ import annotations

from typing import Any

from moongate.kimi.schema.keywords import (
    ANNOTATIONS,
    BOUNDS_OF,
    LONG_ENUM,
    MAX_ENUM_SIZE,
    MAX_ENUM_VALUES,
    MAX_NUMBER,
    SCALAR_TYPES,
    TYPES,
    enum_value_size,
    has_type,
    is_number,
    type_of,
)
from moongate.kimi.schema.value_rules import bounds_complaint
from moongate.payload import JsonObject


def without(schema: JsonObject, *keywords: str) -> JsonObject:
    return {keyword: value for keyword, value in schema.items() if keyword not in keywords}


def annotations_of(schema: JsonObject) -> JsonObject:
    """The title and description, if they are texts."""
    return {
        keyword: schema[keyword] for keyword in schema if keyword in ANNOTATIONS and isinstance(schema[keyword], str)
    }


def types_of(value: Any) -> list[str]:
    """The types that a `type` names, each once, in any case; none if it names none that there is."""
    if value.__class__ is str and value in TYPES:
        return [value]
    named = value if isinstance(value, list) else [value]
    lowered = [name.lower() for name in named if isinstance(name, str)]
    return [name for name in dict.fromkeys(lowered) if name in TYPES]


def mended(schema: JsonObject, kind: str) -> JsonObject:
    """A schema of one type (none: "") with texts, an enum and bounds that the flavour takes."""
    for keyword in ("title", "description", "pattern"):
        if keyword in schema and not isinstance(schema[keyword], str):
            schema = without(schema, keyword)
    if "enum" in schema:
        values = sendable_values(schema["enum"], kind)
        if not values:
            schema = without(schema, "enum")
        elif len(values) < len(schema["enum"]):
            schema = {**schema, "enum": values}
    bounds = BOUNDS_OF.get(kind)
    return _with_good_bounds(schema, kind, *bounds) if bounds else schema


def _with_good_bounds(schema: JsonObject, kind: str, lower: str, upper: str) -> JsonObject:
    for keyword in (lower, upper):
        if bounds_complaint({keyword: schema.get(keyword)}, kind, lower, upper) is not None:
            schema = without(schema, keyword)
    if bounds_complaint(schema, kind, lower, upper) is not None:
        return without(schema, lower, upper)  # the lower one is above the upper one: nothing could ever fit
    return schema


def sendable_values(values: Any, kind: str) -> list[Any]:
    """The values of an enum for the type `kind`; none if there are none, or too many."""
    if not isinstance(values, list) or kind not in SCALAR_TYPES:
        return []
    fitting = [value for value in values if has_type(value, kind)]
    if any(is_number(value) and not abs(value) <= MAX_NUMBER for value in fitting):
        return []  # a number that cannot be sent must not be refused either
    if len(fitting) > MAX_ENUM_VALUES:
        return []
    if len(fitting) > LONG_ENUM and sum(map(enum_value_size, fitting)) > MAX_ENUM_SIZE:
        return []
    return fitting


def has_value_of(values: Any, kind: str) -> bool:
    """Is a value of an enum of the type `kind`? If it cannot be sent, the type alone is sent for it."""
    return isinstance(values, list) and any(has_type(value, kind) for value in values)


def enum_types(values: Any) -> list[str]:
    """The types of an enum's values, null last."""
    if not isinstance(values, list):
        return []
    types = without_integer(list(dict.fromkeys(map(type_of, values))))
    return [name for name in types if name != "null"] + [name for name in types if name == "null"]


def without_integer(types: list[str]) -> list[str]:
    """`types` without "integer" if "number", which takes it in, is there too."""
    return [name for name in types if name != "integer"] if "number" in types else types


def known_required(required: Any, properties: Any) -> list[str]:
    """The names in `required` that are properties, each once."""
    if not isinstance(required, list) or not isinstance(properties, dict):
        return []
    return list(dict.fromkeys(name for name in required if name.__class__ is str and name in properties))


def listed_types(keywords: JsonObject, types: list[str]) -> JsonObject:
    """A scalar type and null with an enum, in the only order that the flavour takes for numbers."""
    if not {"number", "integer"}.isdisjoint(types):
        types = ["null", *(kind for kind in types if kind != "null")]
    values = [value for value in keywords.get("enum", ()) if any(has_type(value, kind) for kind in types)]
    default = {"default": keywords["default"]} if "default" in keywords else {}
    return {"type": types, "enum": values, **annotations_of(keywords), **default}


def annotated(schema: JsonObject, annotations: JsonObject) -> JsonObject:
    """`schema` with these annotations instead of its own, also those of its branches."""
    branches = schema.get("anyOf")
    if branches is not None and annotations:
        schema = {**schema, "anyOf": [without(branch, *annotations) for branch in branches]}
    return {**schema, **annotations}


def is_leaf(schema: JsonObject) -> bool:
    """Is this one of the good schemas of which there are most: a scalar type and a description?"""
    kind = schema.get("type")
    return (
        kind.__class__ is str
        and kind in SCALAR_TYPES
        and (len(schema) == 1 or (len(schema) == 2 and schema.get("description").__class__ is str))
    )


def implied_types(keywords: JsonObject) -> list[str]:
    """The types of a place that names none, where the flavour needs one."""
    if "enum" in keywords:
        return enum_types(keywords["enum"])
    return ["object"] if known_required(keywords.get("required"), keywords.get("properties")) else []
