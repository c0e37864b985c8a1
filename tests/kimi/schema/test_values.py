from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.keywords import MAX_ENUM_VALUES
from moongate.kimi.schema.values import (
    annotated,
    annotations_of,
    enum_types,
    has_value_of,
    implied_types,
    is_leaf,
    known_required,
    listed_types,
    mended,
    sendable_values,
    types_of,
    without,
    without_integer,
)


@pytest.mark.parametrize(
    ("value", "types"),
    [
        ("string", ["string"]),
        ("STRING", ["string"]),
        (["null", "Null", 5, "any", "integer"], ["null", "integer"]),
        ("any", []),
        (None, []),
    ],
)
def test_types_are_read_in_any_case(value: Any, types: list[str]) -> None:
    assert types_of(value) == types


@pytest.mark.parametrize(
    ("schema", "kind", "expected"),
    [
        ({"title": 5, "description": None, "pattern": 1}, "string", {}),
        ({"enum": ["a", None]}, "string", {"enum": ["a"]}),
        ({"enum": [1]}, "string", {}),
        ({"enum": [{}]}, "object", {}),
        ({"minLength": -1, "maxLength": 2}, "string", {"maxLength": 2}),
        ({"minimum": 1, "maximum": "x"}, "number", {"minimum": 1}),
        ({"minimum": 1.5}, "integer", {}),
        ({"minItems": 3, "maxItems": 2, "title": "t"}, "array", {"title": "t"}),
    ],
)
def test_wrong_values_are_left_out(schema: dict[str, Any], kind: str, expected: dict[str, Any]) -> None:
    assert mended(schema, kind) == expected


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string", "enum": ["a"], "minLength": 1, "pattern": "x", "title": "t"}, "string"),
        ({"type": "boolean", "enum": [True]}, "boolean"),
        ({"type": "null", "enum": [None]}, "null"),
        ({"minimum": None}, "number"),
    ],
)
def test_good_schemas_stay_the_same_object(schema: dict[str, Any], kind: str) -> None:
    assert mended(schema, kind) is schema


def test_enums_that_cannot_be_sent_are_left_out() -> None:
    assert sendable_values("x", "string") == []
    assert sendable_values([2**53, 1], "integer") == []
    assert sendable_values([2**53, "a"], "string") == ["a"]
    assert sendable_values([float("nan"), float("inf"), 1], "number") == []
    assert sendable_values(["x"] * (MAX_ENUM_VALUES + 1), "string") == []
    assert sendable_values(["x" * 100] * 300, "string") == []
    assert sendable_values(["名" * 20] * 300, "string") == []
    assert len(sendable_values(["x"] * 300, "string")) == 300


def test_a_type_of_which_an_enum_has_a_value_counts_also_if_the_value_cannot_be_sent() -> None:
    assert has_value_of([2**53, "a"], "integer")
    assert not has_value_of([2**53, "a"], "boolean")
    assert not has_value_of("a", "string")


def test_the_types_of_an_enum_with_null_last() -> None:
    assert enum_types([None, 1, "a", 2.5]) == ["string", "number", "null"]
    assert enum_types("x") == []
    assert without_integer(["integer", "string"]) == ["integer", "string"]


def test_required_names_are_those_of_properties() -> None:
    assert known_required(["a", "b", "a", 5], {"a": {}}) == ["a"]
    assert known_required("a", {"a": {}}) == []
    assert known_required(["a"], None) == []


def test_annotations_are_texts() -> None:
    assert annotations_of({"title": 5, "description": "d", "type": "x"}) == {"description": "d"}
    assert without({"a": 1, "b": 2}, "a") == {"b": 2}


def test_annotations_are_put_in_the_place_of_those_inside() -> None:
    assert annotated({"type": "string", "title": "in"}, {"title": "out"}) == {"type": "string", "title": "out"}
    union = {"anyOf": [{"title": "in", "type": "null"}]}
    assert annotated(union, {"title": "out"}) == {"anyOf": [{"type": "null"}], "title": "out"}
    assert annotated(union, {}) == union


def test_a_list_of_a_type_and_null_has_the_order_that_is_taken() -> None:
    keywords = {"enum": [1, None, "x"], "title": "t", "default": 1}
    assert listed_types(keywords, ["integer", "null"]) == {
        "type": ["null", "integer"],
        "enum": [1, None],
        "title": "t",
        "default": 1,
    }
    assert listed_types({}, ["string", "null"]) == {"type": ["string", "null"], "enum": []}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, True),
        ({"type": "null", "description": "d"}, True),
        ({"type": "string", "description": 5}, False),
        ({"type": "string", "title": "t"}, False),
        ({"type": "object"}, False),
        ({"type": ["string"]}, False),
        ({}, False),
    ],
)
def test_leaves(schema: dict[str, Any], expected: bool) -> None:
    assert is_leaf(schema) is expected


def test_types_are_implied_where_one_is_needed() -> None:
    assert implied_types({"enum": ["a", None]}) == ["string", "null"]
    assert implied_types({"properties": {"a": {}}, "required": ["a"]}) == ["object"]
    assert implied_types({"properties": {"a": {}}}) == []
