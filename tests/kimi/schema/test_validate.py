"""What Moonshot says about a schema that it does not take."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.validate import NOT_AN_OBJECT, refusal, validate_schema
from moongate.kimi.schema.words import MAX_BRANCHES, MAX_DEPTH, MAX_ENUM_ITEMS, MAX_PROPERTY_KEYS, MAX_SIZE

STRING = {"type": "string"}


def about(schema: Any, **root: Any) -> str | None:
    """What is said about the schema of a property."""
    detail = validate_schema({"type": "object", "properties": {"v": schema}, **root})
    assert detail is None or detail.startswith("At path 'properties.v")
    return detail and detail.partition(": ")[2]


@pytest.mark.parametrize(
    "schema",
    [
        {**STRING, "minLength": 0, "maxLength": 3, "enum": ["a"], "title": "t", "description": "d", "default": 1},
        {"type": "number", "minimum": -1.5, "maximum": 2, "enum": [1, 2.5]},
        {"type": "array", "items": STRING, "minItems": 1},
        {"type": "array"},
        {"type": "object", "properties": {"anyOf": STRING}, "required": ["anyOf"], "additionalProperties": {}},
        {"type": "object", "additionalProperties": STRING},
        {"anyOf": [STRING, {"type": "null"}], "description": "d"},
        {"$ref": "#"},
        {"$ref": "#/$defs/A"},
        {"$ref": "#/$defs/A", "description": "mine"},
    ],
)
def test_good_ones(schema: dict[str, Any]) -> None:
    assert about(schema, **{"$defs": {"A": STRING}}) is None


@pytest.mark.parametrize("parameters", [None, [], {}, STRING, {"anyOf": [{"type": "object"}]}])
def test_the_root_is_an_object(parameters: Any) -> None:
    assert validate_schema(parameters) == refusal(parameters) == NOT_AN_OBJECT


@pytest.mark.parametrize(
    ("schema", "detail"),
    [
        ({}, "type is not defined"),
        ({"enum": ["a"]}, "type is not defined"),
        ({"type": ["string"]}, "type must be a string"),
        ({"type": "any"}, "invalid type"),
        ({**STRING, "format": "uri", "allOf": []}, "unsupported keywords: allOf, format"),
        ({**STRING, "$defs": {}}, "unsupported keywords: $defs"),
        ({**STRING, "minimum": 1}, "invalid keywords: minimum"),
        ({**STRING, "description": None}, "description must be a string"),
        ({**STRING, "title": 3}, "title must be a string"),
        ({**STRING, "enum": "a"}, "enum must be an array"),
        ({**STRING, "enum": []}, "enum array cannot be empty"),
        ({**STRING, "enum": ["a"] * (MAX_ENUM_ITEMS + 1)}, "enum array cannot have more than 1000 items"),
        ({**STRING, "enum": ["a", None]}, "enum value (<nil>) does not match any type in [string]"),
        ({**STRING, "minLength": -1}, "minLength must be a non-negative integer"),
        ({"type": "number", "maximum": "x"}, "maximum must be a number"),
        ({**STRING, "minLength": 3, "maxLength": 2}, "minLength (3) cannot be greater than maxLength (2)"),
        ({"type": "array", "items": [STRING]}, "items must be an object"),
        ({"type": "object", "properties": []}, "properties must be an object"),
        ({"type": "object", "properties": {"x": True}}, "property schema for 'x' must be an object"),
        ({"type": "object", "required": "x"}, "required must be an array"),
        ({"type": "object", "required": [3]}, "items in required array must be strings"),
        ({"type": "object", "required": ["x"]}, "required property 'x' is not defined in properties"),
        (
            {"type": "object", "properties": {"x": STRING}, "required": ["x", "x"]},
            "duplicate items in required array",
        ),
        ({"type": "object", "additionalProperties": 3}, "additionalProperties must be a boolean or an object"),
        (
            {"type": "string", "anyOf": [STRING]},
            "when using anyOf, type should be defined in anyOf items instead of the parent schema",
        ),
        ({"properties": {}, "anyOf": [STRING]}, "keyword 'properties' is not allowed at the same level as anyOf"),
        ({"anyOf": {}}, "anyOf must be an array"),
        ({"anyOf": []}, "anyOf must have 1-500 items"),
        ({"anyOf": [STRING] * (MAX_BRANCHES + 1)}, "anyOf must have 1-500 items"),
        ({"anyOf": [True]}, "schema in anyOf must be an object"),
        ({"$ref": 3}, "$ref must be a string"),
        ({"$ref": "#/properties/v"}, "references must start with #/$defs/"),
        ({"$ref": "#/$defs/B"}, "invalid $ref path: #/$defs/B"),
        ({"$ref": "#/$defs/A", "minLength": 1}, "keyword 'minLength' is not allowed at the same level as $ref"),
        ({"$ref": "#/$defs/A", "title": "t"}, "conflicting keywords found after $ref expansion: title"),
        (
            {"$ref": "#/$defs/A", "type": "string"},
            "when using $ref, type should be defined in the referenced schema instead of the parent schema",
        ),
        ({"$ref": "#", "properties": {}}, "keyword 'properties' is not allowed at the same level as $ref"),
    ],
)
def test_details(schema: dict[str, Any], detail: str) -> None:
    assert about(schema, **{"$defs": {"A": {**STRING, "title": "A"}}}) == detail


def test_the_root_can_be_in_conflict_too() -> None:
    assert about({"$ref": "#", "title": "t"}, title="root") == "conflicting keywords found after $ref expansion: title"


def test_definitions() -> None:
    assert about({"$ref": "#/$defs/A"}) == "$defs not found for reference: #/$defs/A"
    root = {"type": "object"}
    assert validate_schema({**root, "$defs": []}) == "At path '': $defs must be an object"
    assert validate_schema({**root, "$defs": {"": {}}}) == "At path '': $defs property name cannot be empty"
    assert validate_schema({**root, "$defs": {"A": True}}) == "At path '': $defs schema must be object: A"
    assert "cannot contain '/'" in str(validate_schema({**root, "$defs": {"a/b": {}}}))
    assert validate_schema({**root, "$defs": {"A": {}}}) == "At path '$defs.A': type is not defined"


def test_paths() -> None:
    deep = {"type": "object", "additionalProperties": {"type": "array", "items": {"anyOf": [STRING, {}]}}}
    detail = validate_schema({"type": "object", "properties": {"a": deep}})
    assert detail == "At path 'properties.a.additionalProperties.items.anyOf{1}': type is not defined"


def test_limits() -> None:
    schema: dict[str, Any] = STRING
    for _ in range(MAX_DEPTH):
        schema = {"type": "object", "properties": {"a": schema}}
    assert validate_schema(schema) is None
    assert "schema depth exceeds" in str(validate_schema({"type": "object", "properties": {"a": schema}}))
    wide = {"type": "object", "properties": {f"k{n}": STRING for n in range(MAX_PROPERTY_KEYS + 1)}}
    assert "total number of properties keys(3001)" in str(validate_schema(wide))
    long = {"type": "object", "description": "x" * MAX_SIZE}
    assert validate_schema(long) == "At path '': schema exceeds maximum allowed size"


def test_the_whole_refusal() -> None:
    assert refusal({"type": "object"}) is None
    assert refusal({"type": "object", "properties": {"a": {}}}) == (
        "tools.function.parameters is not a valid moonshot flavored json schema, "
        "details: <At path 'properties.a': type is not defined>"
    )
