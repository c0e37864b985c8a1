"""What Moonshot's validator wants of the values of single keywords: bounds, properties, required names, enums."""

from __future__ import annotations

from typing import Any

from moongate.kimi.schema.keywords import (
    LONG_ENUM,
    MAX_ENUM_SIZE,
    MAX_ENUM_VALUES,
    MAX_NUMBER,
    RESERVED_PROPERTIES,
    enum_value_size,
    has_type,
    is_number,
    type_of,
)
from moongate.payload import JsonObject

Complaint = tuple[str, str]  # the keyword to add to the path ("": none), and what is wrong


def bounds_complaint(schema: JsonObject, kind: str, lower: str, upper: str) -> Complaint | None:
    """What is wrong with the bounds of a type. Null counts as none."""
    least, most = schema.get(lower), schema.get(upper)
    if least is None and most is None:
        return None
    whole = kind != "number"
    for keyword, value in ((lower, least), (upper, most)):
        if value is None:
            continue
        if not is_number(value):
            return "", f"{keyword} must be {'an integer' if whole else 'a number'}"
        if kind not in ("number", "integer") and value < 0:
            return "", f"{keyword} must be non-negative"
        if not abs(value) <= MAX_NUMBER or (whole and value != int(value)):
            return "", f"not a valid {'integer' if whole else 'number'}"
    if least is not None and most is not None and least > most:
        return "", f"{lower} ({least}) cannot be greater than {upper} ({most})"
    return None


def properties_complaint(properties: Any, ultra: bool) -> Complaint | None:
    if not isinstance(properties, dict):
        return "properties", "properties must be an object"
    if ultra and "" in properties:
        return "properties", "property name cannot be empty"
    if not RESERVED_PROPERTIES.isdisjoint(properties):
        name = min(RESERVED_PROPERTIES.intersection(properties))
        return "properties", f"property name '{name}' is reserved for JSON Schema keywords"
    for name, inner in properties.items():
        if not isinstance(inner, dict):
            return "properties", f"property schema for '{name}' must be an object"
    return None


def required_complaint(schema: JsonObject, ultra: bool) -> Complaint | None:
    required, properties = schema["required"], schema.get("properties")
    if not isinstance(required, list):
        return "required", "required must be an array"
    if not required:
        return None
    if not all(name.__class__ is str for name in required):
        return "required", "items in required array must be strings"
    properties = properties if isinstance(properties, dict) else None
    if ultra:
        if "" in required:
            return "required", "property names in required array cannot be empty"
        if len(set(required)) < len(required):
            seen: set[str] = set()
            twice = next(name for name in required if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            return "required", f"duplicate items in required array: {twice}"
        if schema.get("type") not in ("object", ["object"]):
            return "required", "required keyword must be used with object"
        if properties is None:
            return "required", "required specified but 'properties' keyword is missing"
    for name in required:
        if properties is None or name not in properties:
            return "required", f"required property '{name}' is not defined in properties"
    return None


def enum_complaint(values: Any, kind: Any, ultra: bool) -> Complaint | None:
    if not isinstance(values, list):
        return "enum", "enum must be an array"
    if not values:
        return "enum", "enum array cannot be empty"
    if len(values) > MAX_ENUM_VALUES:
        return "enum", f"enum array cannot have more than {MAX_ENUM_VALUES} items"
    if kind is None:
        return "", "type is not defined"
    kinds = kind if isinstance(kind, list) else [kind]
    if len(kinds) > 2 or (len(kinds) == 2 and "null" not in kinds):
        return "", (
            "when type is array and enum is specified, currently only 2 types are supported, one must be null, "
            "and the other can be string/integer/number/boolean"
        )
    for value in values:
        found = _enum_value_complaint(value, kinds, ultra)
        if found:
            return "enum", found
    if len(values) > LONG_ENUM and not {"string", "number", "integer"}.isdisjoint(kinds):
        size = sum(map(enum_value_size, values))
        if size > MAX_ENUM_SIZE:
            return "enum", (
                f"total string length of enum values ({size}) exceeds maximum limit of {MAX_ENUM_SIZE} "
                f"characters when enum has more than {LONG_ENUM} values"
            )
    return None


def _enum_value_complaint(value: Any, kinds: list[str], ultra: bool) -> str:
    for kind in kinds:
        if kind in ("number", "integer"):  # of these two the validator says no at once, whatever type follows
            taken = has_type(value, kind) and (not ultra or abs(value) <= MAX_NUMBER)
            return "" if taken else f"not a valid {kind}"
        if type_of(value) == kind:
            return ""
    shown = "<nil>" if value is None else value
    return f"enum value ({shown}) does not match any type in [{' '.join(kinds)}]"
