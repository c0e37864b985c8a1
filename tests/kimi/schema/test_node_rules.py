from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.keywords import MAX_BRANCHES, MAX_ENUM_VALUES
from moongate.kimi.schema.node_rules import node_complaint, unsupported_keywords

ROOT: dict[str, Any] = {"$defs": {"A": {}}}
MANY = [{"type": "null"}] * (MAX_BRANCHES + 1)


def complaint(schema: dict[str, Any], *, ultra: bool = True, is_root: bool = False) -> str | None:
    """What is wrong with a node, as `keyword: text`."""
    found = node_complaint(schema, ultra=ultra, root=schema if is_root else ROOT)
    return None if found is None else f"{found[0]}: {found[1]}" if found[0] else found[1]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": "string", "minLength": 1, "maxLength": 1, "pattern": "[", "enum": ["a"], "default": 5},
        {"type": "string", "minLength": None, "pattern": None},
        {"type": "array", "items": {}, "minItems": 0, "default": None},
        {"type": "number", "minimum": -1.5, "maximum": 2},
        {"type": "integer", "minimum": 1.0, "enum": [1, 2.0]},
        {"type": "null", "enum": [None]},
        {"type": "boolean", "enum": [True]},
        {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
        {"type": ["object"], "properties": {"a": {}}, "required": ["a"], "additionalProperties": {}},
        {"type": "object", "required": []},
        {"type": ["string", "null", "object"], "title": "t", "description": "d"},
        {"type": ["string", "null"], "enum": ["a", None], "minLength": 1},
        {"type": ["null", "number"], "enum": [1, None]},
        {"items": {"type": "string"}, "minLength": -1, "properties": {"a": {}}},
        {"anyOf": [{"type": "string"}], "description": "d"},
        {"$ref": "#/$defs/A", "title": "t"},
        {"$ref": "#", "minLength": 1},
    ],
)
def test_nodes_that_are_taken_at_both_levels(schema: dict[str, Any]) -> None:
    assert complaint(schema) is None
    assert complaint(schema, ultra=False) is None


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "any"}, "invalid type"),
        ({"type": 5}, "type must be string or array of strings"),
        ({"type": []}, "type array cannot be empty"),
        ({"type": ["string", 5]}, "invalid type in type array"),
        ({"type": ["string", "bogus"]}, "invalid type in type array"),
        ({"type": "string", "anyOf": [{}]}, "when using anyOf, type should be defined in anyOf items"),
        ({"type": "string", "$ref": "#"}, "when using $ref, type should be defined in the referenced schema"),
        ({"type": ["string", "null"], "minLength": 1}, "keyword minLength is not allowed in combination with multiple"),
        ({"type": ["array", "null"], "enum": [None]}, "type array is not allowed in combination with enum"),
        ({"type": ["string", "null", "number"], "enum": ["a"]}, "keyword enum is not allowed in combination with"),
        ({"type": ["string", "boolean"], "enum": ["a"]}, "when type is array and enum is specified, currently only 2"),
        ({"properties": []}, "properties: properties must be an object"),
        ({"properties": {"required": {}}}, "properties: property name 'required' is reserved for JSON Schema keywords"),
        ({"properties": {"a": True}}, "properties: property schema for 'a' must be an object"),
        ({"required": "a"}, "required: required must be an array"),
        ({"required": [1]}, "required: items in required array must be strings"),
        ({"type": "object", "properties": {}, "required": ["a"]}, "required: required property 'a' is not defined in"),
        ({"enum": "a"}, "enum: enum must be an array"),
        ({"enum": []}, "enum: enum array cannot be empty"),
        ({"enum": [1] * (MAX_ENUM_VALUES + 1)}, "enum: enum array cannot have more than 1000 items"),
        ({"enum": ["a"]}, "type is not defined"),
        ({"type": "string", "enum": ["a", None]}, "enum: enum value (<nil>) does not match any type in [string]"),
        ({"type": "number", "enum": [1, "a"]}, "enum: not a valid number"),
        ({"type": "integer", "enum": [1.5]}, "enum: not a valid integer"),
        ({"type": ["number", "null"], "enum": [1, None]}, "enum: not a valid number"),
        ({"type": "string", "enum": ["x" * 100] * 300}, "enum: total string length of enum values (30000) exceeds"),
        ({"type": "number", "enum": [10**60 + 1] * 300}, "enum: "),
        ({"items": []}, "items: items must be an object"),
        ({"additionalProperties": 5}, "additionalProperties: additionalProperties must be a boolean or an object"),
        ({"description": 5}, "description: description must be a string"),
        ({"pattern": 5}, "pattern: pattern must be a string"),
        ({"$id": 5}, "$id: $id must be a string"),
        ({"anyOf": {}}, "anyOf: anyOf must be an array"),
        ({"anyOf": []}, "anyOf: anyOf must have 1-500 items"),
        ({"anyOf": MANY}, "anyOf: anyOf must have 1-500 items"),
        ({"anyOf": [True]}, "anyOf: schema in anyOf must be an object"),
        ({"$ref": 5}, "$ref: $ref must be a string"),
        ({"$ref": "#/properties/a"}, "$ref: references must start with #/$defs/"),
        ({"$ref": "#/$defs/"}, "$ref: definition name cannot be empty"),
        ({"$defs": []}, "$defs: $defs must be an object"),
        ({"$defs": {"": {}}}, "$defs: $defs property name cannot be empty"),
        ({"$defs": {"A": True}}, "$defs: $defs schema must be object"),
        ({"$defs": {"a/b": {}}}, "$defs: $defs property name 'a/b' cannot contain '/' character"),
    ],
)
def test_nodes_that_are_refused_at_both_levels(schema: dict[str, Any], text: str) -> None:
    assert (complaint(schema) or "").startswith(text)
    assert (complaint(schema, ultra=False) or "").startswith(text)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string", "minimum": 1, "items": {}}, "invalid keywords: items, minimum"),
        ({"type": "string", "$id": "x"}, "keyword $id must be at root level"),
        ({"type": ["string", "string"]}, "type: duplicate types in type array"),
        ({"type": ["string"], "minimum": 1}, "invalid keywords: minimum"),
        ({"type": "string", "minLength": "1"}, "minLength must be an integer"),
        ({"type": "string", "maxLength": -1}, "maxLength must be non-negative"),
        ({"type": "array", "maxItems": 1.5}, "not a valid integer"),
        ({"type": "number", "minimum": "1"}, "minimum must be a number"),
        ({"type": "number", "minimum": 2**53}, "not a valid number"),
        ({"type": "integer", "minimum": 2, "maximum": 1}, "minimum (2) cannot be greater than maximum (1)"),
        ({"type": "integer", "enum": [2**53]}, "enum: not a valid integer"),
        ({"properties": {"": {}}}, "properties: property name cannot be empty"),
        ({"required": [""]}, "required: property names in required array cannot be empty"),
        (
            {"type": "object", "properties": {"a": {}}, "required": ["a", "a"]},
            "required: duplicate items in required array: a",
        ),
        ({"required": ["a"], "properties": {"a": {}}}, "required: required keyword must be used with object"),
        ({"type": "object", "required": ["a"]}, "required: required specified but 'properties' keyword is missing"),
        ({"$ref": "#/$defs/A", "minLength": 1}, "keyword 'minLength' is not allowed at the same level as $ref"),
        ({"anyOf": [{}], "default": 1}, "keyword 'default' is not allowed at the same level as anyOf"),
        ({"title": 5}, "title: title must be a string"),
        (
            {"anyOf": [{}, {"description": "b"}], "description": "a"},
            "conflicting keywords found in anyOf with parent: keywords (description) are defined on the parent schema",
        ),
    ],
)
def test_nodes_that_only_the_strictest_level_refuses(schema: dict[str, Any], text: str) -> None:
    assert (complaint(schema) or "").startswith(text)
    if "required" not in schema or "properties" in schema:
        assert complaint(schema, ultra=False) is None


def test_the_same_keyword_on_both_sides_of_a_union_is_a_conflict() -> None:
    schema = {"anyOf": [{"minLength": 1, "title": "x"}], "minLength": 2, "title": "y"}
    assert "keywords (minLength) are defined" in (complaint(schema, ultra=False) or "")


def test_the_root_may_have_an_id_and_definitions() -> None:
    roots: list[dict[str, Any]] = [
        {"type": "object", "$id": "x", "$defs": {}},
        {"type": ["object", "null"], "$id": "x"},
        {"anyOf": [{}], "$defs": {}},
        {"$ref": "#/$defs/A", "$defs": {"A": {}}},
    ]
    assert [complaint(schema, is_root=True) for schema in roots] == [None] * 4
    assert complaint({"$ref": "#/$defs/A"}, is_root=True) == "$ref: $defs not found for reference: #/$defs/A"


def test_unsupported_keywords_are_named_in_order() -> None:
    assert unsupported_keywords({"type": "string"}) is None
    assert unsupported_keywords({"oneOf": [], "const": 1}) == ("", "unsupported keywords: const, oneOf")
