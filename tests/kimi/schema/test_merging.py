from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.merging import common_types, either, together


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([{"type": "string"}], {"type": "string"}),
        ([{"type": ["string", "null"]}, {"type": ["null", "number"]}], {"type": ["null"]}),
        ([{"properties": {"a": {}}}, {"properties": 5}], {"properties": {"a": {}}}),
        (
            [{"properties": {"a": {}, "b": {}}}, {"properties": {"a": {"title": "t"}}}],
            {"properties": {"a": {"allOf": [{}, {"title": "t"}]}, "b": {}}},
        ),
        ([{"required": ["a"]}, {"required": 5}, {"required": ["b"]}], {"required": ["a", "b"]}),
        ([{"enum": [1, "a", True]}, {"enum": [1.0, "a", 1]}], {"enum": [1, "a"]}),
        ([{"enum": [1]}, {"enum": [2]}], {"enum": [1]}),
        ([{"enum": [1]}, {"enum": "x"}], {"enum": [1]}),
        ([{"items": {"a": 1}}, {"items": {"b": 1}}], {"items": {"allOf": [{"a": 1}, {"b": 1}]}}),
        ([{"additionalProperties": {}}, {"additionalProperties": False}], {"additionalProperties": False}),
        ([{"additionalProperties": 1}, {"additionalProperties": 2}], {"additionalProperties": {"allOf": [1, 2]}}),
        ([{"minLength": 1}, {"minLength": 3}, {"minLength": "x"}], {"minLength": 3}),
        ([{"maximum": 1}, {"maximum": 3}], {"maximum": 1}),
        ([{"maximum": "x"}, {"maximum": None}], {"maximum": None}),
        ([{"title": "first"}, {"title": "second", "default": 1}], {"title": "first", "default": 1}),
    ],
)
def test_what_holds_together(parts: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    assert together(parts) == expected


@pytest.mark.parametrize(
    ("found", "types"),
    [
        (["number", "integer"], ["integer"]),
        (["integer", "number"], ["integer"]),
        (["string", "number"], ["string"]),
        (["bogus", "string", 5], ["string"]),
    ],
)
def test_types_that_hold_together(found: list[Any], types: list[str]) -> None:
    assert common_types(found) == types


def test_a_union_of_objects_becomes_one_object() -> None:
    own = {"title": "t", "properties": {"a": {"x": 1}, "b": {"x": 2}}, "required": ["a", 5], "anyOf": []}
    alternatives = [
        {"properties": {"b": {"x": 3}, "c": {}, "d": {"x": 4}}, "required": ["c", "d"], "additionalProperties": False},
        {"properties": {"a": {"x": 5}, "b": {"x": 3}, "d": {"x": 6}}, "required": ["d"], "additionalProperties": False},
    ]
    assert either(own, alternatives) == {
        "title": "t",
        "type": "object",
        "properties": {
            "a": {"x": 1},
            "b": {"allOf": [{"x": 2}, {"x": 3}]},
            "c": {},
            "d": {"anyOf": [{"x": 4}, {"x": 6}]},
        },
        "required": ["a", "d"],
        "additionalProperties": False,
    }


def test_alternatives_that_are_open_in_different_ways_leave_the_object_open() -> None:
    merged = either({}, [{"additionalProperties": False, "required": "x"}, {"properties": 5}])
    assert merged == {"type": "object", "properties": {}}
    assert either({"additionalProperties": {}}, [{}]) == {**merged, "additionalProperties": {}}
    assert either({}, [{}, {}]) == merged
