from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.keywords import BOUNDS_OF, MAX_ENUM_VALUES, MAX_NUMBER
from moongate.kimi.schema.value_rules import (
    bounds_complaint,
    enum_complaint,
    properties_complaint,
    required_complaint,
)


def bounds(kind: str, least: Any = None, most: Any = None) -> str | None:
    lower, upper = BOUNDS_OF[kind]
    found = bounds_complaint({lower: least, upper: most}, kind, lower, upper)
    return None if found is None else found[1]


@pytest.mark.parametrize(
    ("kind", "least", "most", "text"),
    [
        ("string", None, None, None),
        ("string", 0, 5.0, None),
        ("number", -1.5, 2, None),
        ("integer", -MAX_NUMBER, None, None),
        ("string", "1", None, "minLength must be an integer"),
        ("string", True, None, "minLength must be an integer"),
        ("number", None, "1", "maximum must be a number"),
        ("array", -1, None, "minItems must be non-negative"),
        ("array", None, 1.5, "not a valid integer"),
        ("number", MAX_NUMBER + 1, None, "not a valid number"),
        ("integer", None, 0.5, "not a valid integer"),
        ("integer", 2, 1, "minimum (2) cannot be greater than maximum (1)"),
    ],
)
def test_bounds(kind: str, least: Any, most: Any, text: str | None) -> None:
    assert bounds(kind, least, most) == text


@pytest.mark.parametrize(
    ("properties", "ultra", "text"),
    [
        ({"a": {}}, True, None),
        ({"": {}}, False, None),
        ({"": {}}, True, "property name cannot be empty"),
        ([], True, "properties must be an object"),
        ({"anyOf": {}, "$ref": {}}, False, "property name '$ref' is reserved for JSON Schema keywords"),
        ({"a": None}, False, "property schema for 'a' must be an object"),
    ],
)
def test_properties(properties: Any, ultra: bool, text: str | None) -> None:
    found = properties_complaint(properties, ultra)
    assert (None if found is None else found[1]) == text


OBJECT = {"type": "object", "properties": {"a": {}, "": {}}}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({**OBJECT, "required": ["a"]}, None),
        ({"required": []}, None),
        ({"required": "a"}, "required must be an array"),
        ({"required": [5]}, "items in required array must be strings"),
        ({**OBJECT, "required": [""]}, "property names in required array cannot be empty"),
        ({**OBJECT, "required": ["a", "b", "a"]}, "duplicate items in required array: a"),
        ({"properties": {"a": {}}, "required": ["a"]}, "required keyword must be used with object"),
        ({"type": "object", "required": ["a"]}, "required specified but 'properties' keyword is missing"),
        ({**OBJECT, "required": ["b"]}, "required property 'b' is not defined in properties"),
    ],
)
def test_required_names(schema: dict[str, Any], text: str | None) -> None:
    found = required_complaint(schema, True)
    assert (None if found is None else found[1]) == text


def test_the_server_wants_of_required_names_that_they_are_properties() -> None:
    assert required_complaint({"required": ["a", "a"], "properties": {"a": {}}}, False) is None
    assert required_complaint({"required": ["a"]}, False) is not None


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        (["a"], "string", None),
        ([1, 2.0], "integer", None),
        ([None, 1], ["null", "integer"], None),
        ([None, "a"], ["string", "null"], None),
        ([[1]], "array", None),
        (["x"] * 300, "string", None),
        ([True] * 300, "boolean", None),
        ("a", "string", "enum must be an array"),
        ([], "string", "enum array cannot be empty"),
        ([1] * (MAX_ENUM_VALUES + 1), "integer", "enum array cannot have more than 1000 items"),
        (["a"], None, "type is not defined"),
        (["a"], ["string", "null", "number"], "when type is array and enum is specified"),
        (["a"], ["string", "number"], "when type is array and enum is specified"),
        ([1, None], ["integer", "null"], "not a valid integer"),
        (["a"], "number", "not a valid number"),
        ([MAX_NUMBER + 1], "number", "not a valid number"),
        ([None], "string", "enum value (<nil>) does not match any type in [string]"),
        ([1], ["string", "null"], "enum value (1) does not match any type in [string null]"),
        (["x" * 100] * 300, "string", "total string length of enum values (30000) exceeds maximum limit of 15000"),
        (["名" * 20] * 300, "string", "total string length of enum values (18000) exceeds maximum limit of 15000"),
        ([123456789012345] * 1000, "integer", None),
        ([float("inf")], "integer", "not a valid integer"),
        ([float("nan")], "number", "not a valid number"),
        ([1234567890123456] * 1000, "integer", "total string length of enum values (16000) exceeds"),
    ],
)
def test_enums(values: Any, kind: Any, text: str | None) -> None:
    found = enum_complaint(values, kind, True)
    assert (found is None) if text is None else (found is not None and found[1].startswith(text))


def test_the_server_takes_large_numbers() -> None:
    assert enum_complaint([MAX_NUMBER + 1], "integer", False) is None


def test_no_integer_is_infinite() -> None:
    assert enum_complaint([float("inf")], "integer", False) == ("enum", "not a valid integer")
