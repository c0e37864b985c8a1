"""Does Moonshot take this schema? The verdict in its words (the flavour is described in section 10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moongate.kimi.schema.words import (
    ANNOTATIONS,
    BOUNDS,
    MAX_BRANCHES,
    MAX_DEPTH,
    MAX_ENUM_ITEMS,
    MAX_PROPERTY_KEYS,
    MAX_SIZE,
    UNION_WORDS,
    WORDS,
    WORDS_OF,
    has_type,
    is_bound,
)
from moongate.payload import JsonObject, dumps

NOT_AN_OBJECT: Final = 'tools.function.parameters.type is required and must be "object"'
_SUPPORTED: Final = WORDS | {"anyOf", "$ref", "$defs"}
_DEFINITION: Final = "#/$defs/"


def refusal(parameters: Any) -> str | None:
    """The whole message with which Moonshot refuses these parameters, None if it takes them."""
    detail = validate_schema(parameters)
    if detail is None or detail == NOT_AN_OBJECT:
        return detail
    return f"tools.function.parameters is not a valid moonshot flavored json schema, details: <{detail}>"


def validate_schema(parameters: Any) -> str | None:
    """What is wrong with the parameters of a tool, with the path, or None if nothing is."""
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return NOT_AN_OBJECT
    keys = 0
    waiting: list[tuple[str, JsonObject, int]] = [("", parameters, 0)]
    while waiting:
        path, schema, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return f"At path '{path}': schema depth exceeds maximum limit of {MAX_DEPTH}"
        for complaint in _complaints(schema, parameters):
            return f"At path '{path}': {complaint}"
        keys += len(schema.get("properties", ()))
        waiting += _inner(path, schema, depth)
    if keys > MAX_PROPERTY_KEYS:
        return f"At path '': total number of properties keys({keys}) exceeds maximum limit of {MAX_PROPERTY_KEYS}"
    # Last, because only what was found good is sure to be written.
    return "At path '': schema exceeds maximum allowed size" if len(dumps(parameters)) > MAX_SIZE else None


def _inner(path: str, schema: JsonObject, depth: int) -> Iterator[tuple[str, JsonObject, int]]:
    start = f"{path}." if path else ""
    for word, below in (("properties", depth + 1), ("$defs", depth)):
        for name, inner in schema.get(word, {}).items():
            yield f"{start}{word}.{name}", inner, below
    for index, branch in enumerate(schema.get("anyOf", ())):
        yield f"{start}anyOf{{{index}}}", branch, depth
    if "items" in schema:
        yield f"{start}items", schema["items"], depth
    others = schema.get("additionalProperties")
    if isinstance(others, dict) and others:
        yield f"{start}additionalProperties", others, depth


def _complaints(schema: JsonObject, root: JsonObject) -> Iterator[str]:
    """What is wrong with one schema, leaving out the schemas inside it. What follows a complaint means nothing."""
    unsupported = sorted(word for word in schema if word not in _SUPPORTED or (word == "$defs" and schema is not root))
    if unsupported:
        yield f"unsupported keywords: {', '.join(unsupported)}"
    for word in ("title", "description"):
        if not isinstance(schema.get(word, ""), str):
            yield f"{word} must be a string"
    if "anyOf" in schema:
        yield from _union_complaints(schema)
    elif "$ref" in schema:
        yield from _reference_complaints(schema, root)
    elif "type" not in schema:
        yield "type is not defined"
    else:
        yield from _type_complaints(schema)
    if schema is root:
        yield from _definition_complaints(root)


def _union_complaints(schema: JsonObject) -> Iterator[str]:
    if "type" in schema:
        yield "when using anyOf, type should be defined in anyOf items instead of the parent schema"
    for word in sorted(schema.keys() - UNION_WORDS):
        yield f"keyword '{word}' is not allowed at the same level as anyOf"
    branches = schema["anyOf"]
    if not isinstance(branches, list):
        yield "anyOf must be an array"
    elif not 1 <= len(branches) <= MAX_BRANCHES:
        yield f"anyOf must have 1-{MAX_BRANCHES} items"
    elif not all(isinstance(branch, dict) for branch in branches):
        yield "schema in anyOf must be an object"


def _reference_complaints(schema: JsonObject, root: JsonObject) -> Iterator[str]:
    ref, definitions = schema["$ref"], root.get("$defs")
    if "type" in schema:
        yield "when using $ref, type should be defined in the referenced schema instead of the parent schema"
    for word in sorted(schema.keys() - {"$ref", *ANNOTATIONS}):
        yield f"keyword '{word}' is not allowed at the same level as $ref"
    if not isinstance(ref, str):
        yield "$ref must be a string"
    elif ref == "#":
        target: Any = root
        yield from _conflicts(schema, target)
    elif not ref.startswith(_DEFINITION):
        yield "references must start with #/$defs/"
    elif not isinstance(definitions, dict):
        yield f"$defs not found for reference: {ref}"
    elif ref.removeprefix(_DEFINITION) not in definitions:
        yield f"invalid $ref path: {ref}"
    else:
        yield from _conflicts(schema, definitions[ref.removeprefix(_DEFINITION)])


def _conflicts(schema: JsonObject, target: Any) -> Iterator[str]:
    both = sorted(word for word in schema if word != "$ref" and isinstance(target, dict) and word in target)
    if both:
        yield f"conflicting keywords found after $ref expansion: {', '.join(both)}"


def _type_complaints(schema: JsonObject) -> Iterator[str]:
    kind = schema["type"]
    if not isinstance(kind, str):
        yield "type must be a string"
    if kind not in WORDS_OF:
        yield "invalid type"
    misplaced = sorted(schema.keys() - WORDS_OF[kind] - {"$defs"})
    if misplaced:
        yield f"invalid keywords: {', '.join(misplaced)}"
    if kind == "object":
        yield from _object_complaints(schema)
    if "items" in schema and not isinstance(schema["items"], dict):
        yield "items must be an object"
    if "enum" in schema:
        yield from _enum_complaints(schema["enum"], kind)
    for lower, upper in BOUNDS:
        for word in (lower, upper):
            if word in schema and not is_bound(word, schema[word]):
                wanted = "a number" if word in ("minimum", "maximum") else "a non-negative integer"
                yield f"{word} must be {wanted}"
        if lower in schema and upper in schema and schema[lower] > schema[upper]:
            yield f"{lower} ({schema[lower]}) cannot be greater than {upper} ({schema[upper]})"


def _object_complaints(schema: JsonObject) -> Iterator[str]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict):
        yield "properties must be an object"
    for name, inner in properties.items():
        if not isinstance(inner, dict):
            yield f"property schema for '{name}' must be an object"
    if not isinstance(required, list):
        yield "required must be an array"
    for name in required:
        if not isinstance(name, str):
            yield "items in required array must be strings"
        if name not in properties:
            yield f"required property '{name}' is not defined in properties"
    if len(set(required)) != len(required):
        yield "duplicate items in required array"
    if not isinstance(schema.get("additionalProperties", True), (bool, dict)):
        yield "additionalProperties must be a boolean or an object"


def _enum_complaints(values: Any, kind: str) -> Iterator[str]:
    if not isinstance(values, list):
        yield "enum must be an array"
    elif not values:
        yield "enum array cannot be empty"
    elif len(values) > MAX_ENUM_ITEMS:
        yield f"enum array cannot have more than {MAX_ENUM_ITEMS} items"
    else:
        for value in values:
            if not has_type(value, kind):
                shown = "<nil>" if value is None else value
                yield f"enum value ({shown}) does not match any type in [{kind}]"


def _definition_complaints(root: JsonObject) -> Iterator[str]:
    definitions = root.get("$defs", {})
    if not isinstance(definitions, dict):
        yield "$defs must be an object"
    for name, schema in definitions.items():
        if not name:
            yield "$defs property name cannot be empty"
        if "/" in name:
            yield f"$defs property name '{name}' cannot contain '/' character"
        if not isinstance(schema, dict):
            yield f"$defs schema must be object: {name}"
