from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.conjunctions import Conjunctions, CopyBudget
from moongate.kimi.schema.detail import MAX_LEVELS, Detail
from moongate.kimi.schema.keywords import MAX_BRANCHES, anything
from moongate.kimi.schema.property_names import PropertyNames
from moongate.kimi.schema.references import References
from moongate.kimi.schema.rewrite import SchemaRewriter
from moongate.kimi.schema.step_budget import StepBudget

TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "title": "T"}
ROOT: dict[str, Any] = {
    "properties": {"place": TEXT, "loop": {"type": "array", "items": {"$ref": "#/properties/loop"}}},
    "$defs": {"A": TEXT, "L": {"type": "object", "properties": {"next": {"$ref": "#/$defs/L", "type": "null"}}}},
}
ULTRA = Detail()


def rewriter(detail: Detail = ULTRA, copies: int = 10_000) -> SchemaRewriter:
    steps = StepBudget()
    references = References(ROOT, "", steps)
    conjunctions = Conjunctions(references, CopyBudget(copies, steps), steps, following=detail.references)
    return SchemaRewriter(references, conjunctions, PropertyNames(b"", steps), steps, detail)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": "string", "description": "d"},
        {"type": "array", "items": {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}},
        {"description": "anything"},
        {"items": {}, "minLength": 1, "default": {"a": 1}},
        {"additionalProperties": {"type": "string", "pattern": "^a"}},
        {"type": ["string", "null"], "enum": ["a", None]},
        {"anyOf": [TEXT, {"type": "null"}], "description": "d"},
        {"$ref": "#/$defs/A", "description": "mine"},
        {"$ref": "#"},
    ],
)
def test_what_is_good_stays_the_same_object(schema: dict[str, Any]) -> None:
    assert rewriter().value(schema, 0, 0) is schema


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, anything()),
        ({"type": "string", "format": "uri", "pattern": "^h"}, {"type": "string", "pattern": "^h"}),
        ({"description": "d", "examples": []}, {"description": "d"}),
        ({"minLength": 1, "format": "x"}, {"minLength": 1}),
        ({"type": "string", "minimum": 1}, {"type": "string"}),
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "bogus", "title": "t"}, {"title": "t"}),
        ({"enum": ["a"]}, {"enum": ["a"], "type": "string"}),
        ({"enum": ["a", None]}, {"enum": ["a", None], "type": ["string", "null"]}),
        ({"enum": [1, None], "default": 1}, {"enum": [1, None], "type": ["null", "integer"], "default": 1}),
        ({"enum": [None]}, {"enum": [None], "type": "null"}),
        ({"enum": [{}, [1]]}, {"anyOf": [{"type": "object"}, {"type": "array"}]}),
        (
            {"enum": [2**53, "a", {}]},
            {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["a"]}, {"type": "object"}]},
        ),
        (
            {"enum": [1, "a", {}], "title": "t", "default": "a"},
            {
                "title": "t",
                "anyOf": [
                    {"type": "integer", "enum": [1]},
                    {"type": "string", "enum": ["a"], "default": "a"},
                    {"type": "object"},
                ],
            },
        ),
        ({"const": "a", "description": "d"}, {"type": "string", "enum": ["a"], "description": "d"}),
        ({"anyOf": [{"const": 1}, {"const": 2}]}, {"type": "integer", "enum": [1, 2]}),
        ({"type": ["string", "null", "string"]}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"], "enum": ["a", 5]}, {"type": ["string", "null"], "enum": ["a"]}),
        ({"type": ["string", "null"], "enum": [5]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (
            {"type": ["number", "null"], "enum": [None], "minimum": 1, "title": "t"},
            {"type": "null", "enum": [None], "title": "t"},
        ),
        (
            {"type": ["string", "null"], "minLength": 1, "default": None, "title": "t"},
            {"title": "t", "anyOf": [{"type": "string", "minLength": 1}, {"type": "null", "default": None}]},
        ),
        ({"type": "string", "anyOf": [{"minLength": 1}]}, {"anyOf": [{"minLength": 1, "type": "string"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            {"anyOf": [{"type": "string"}, {"type": "null", "default": None}]},
        ),
        ({"oneOf": [{"type": "string"}, False]}, {"anyOf": [{"type": "string"}]}),
        ({"oneOf": [False], "title": "t"}, {"title": "t"}),
        ({"anyOf": [{}] * (MAX_BRANCHES + 1), "title": "t", "minLength": 1}, {"title": "t", "minLength": 1}),
        ({"anyOf": [{"title": "in", "type": "null"}], "title": "out"}, {"anyOf": [{"type": "null"}], "title": "out"}),
        (
            {"anyOf": [{"title": "in", "format": "x"}, TEXT], "description": "out"},
            {"anyOf": [{"title": "in"}, TEXT], "description": "out"},
        ),
        ({"allOf": [{"minLength": 1}, {"type": "string"}]}, {"minLength": 1, "type": "string"}),
        ({"$ref": "#/$defs/A", "maxLength": 2}, {"type": "string", "minLength": 1, "maxLength": 2, "title": "T"}),
        ({"$ref": "#/$defs/A", "type": "string", "title": "x"}, {"$ref": "#/$defs/A", "title": "x"}),
        ({"$ref": "#/properties/place"}, TEXT),
        ({"$ref": "#/properties/place", "title": "mine"}, {**TEXT, "title": "mine"}),
        ({"$ref": "#/nowhere", "title": "t"}, {"title": "t"}),
        ({"$ref": 5}, {}),
        ({"type": "array", "items": True}, {"type": "array"}),
        ({"type": "array", "items": {"format": "x"}}, {"type": "array", "items": {}}),
        ({"type": "object", "additionalProperties": 5}, {"type": "object"}),
        ({"additionalProperties": {"format": "x"}}, {"additionalProperties": {}}),
        ({"type": "object", "properties": 5, "required": ["a"]}, {"type": "object"}),
        ({"type": "object", "required": ["a"]}, {"type": "object"}),
        ({"properties": {"a": {}}, "required": ["a"]}, {"type": "object", "properties": {"a": {}}, "required": ["a"]}),
        ({"properties": {"a": {}}, "required": ["b"]}, {"properties": {"a": {}}}),
        (
            {"type": "object", "properties": {"a": {}, "b": False}, "required": ["a", "a", "b", "c"]},
            {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        ),
        ({"type": "object", "default": {"$ref": "#"}}, {"type": "object"}),
        ({"items": {}, "maxLength": {"$ref": "#/$defs/A"}, "minimum": [1]}, {"items": {}, "minimum": [1]}),
        ({"anyOf": [{"type": "object"}], "default": {"$ref": 5}}, {"anyOf": [{"type": "object"}]}),
        ({"type": "string", "$id": "x"}, {"type": "string"}),
    ],
)
def test_what_is_refused_becomes_what_is_taken(schema: Any, expected: dict[str, Any]) -> None:
    assert rewriter().value(schema, 0, 0) == expected


def test_reserved_names_of_properties_are_changed_with_required() -> None:
    schema = {"type": "object", "properties": {"required": {}, "x/y": {}}, "required": ["required", "x/y"]}
    result = rewriter().value(schema, 0, 0)
    (sent, same) = result["properties"]
    assert sent.startswith("required_")
    assert same == "x/y"
    assert result["required"] == [sent, same]


def test_in_definitions_names_and_defaults_have_no_slash() -> None:
    schema = {"type": "object", "properties": {"x/y": {}}, "default": {"x/y": 1}}
    result = rewriter().definition("/$defs/D", schema)
    (sent,) = result["properties"]
    assert sent.startswith("x_y_")
    assert "default" not in result


def test_recursion_stays_a_reference() -> None:
    inner = rewriter().definition("/$defs/L", ROOT["$defs"]["L"])["properties"]["next"]
    assert inner == {"$ref": "#/$defs/L"}
    assert rewriter().value({"$ref": "#/properties/loop"}, 0, 0) == {"type": "array", "items": {"$ref": "#/$defs/loop"}}


def test_what_was_followed_is_recursive_only_inside() -> None:
    twice = {"properties": {"a": {"$ref": "#/$defs/A", "maxLength": 2}, "b": {"$ref": "#/$defs/A", "maxLength": 3}}}
    result = rewriter().value(twice, 0, 0)
    assert [inner["maxLength"] for inner in result["properties"].values()] == [2, 3]


def test_objects_below_the_depth_lose_their_properties() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}, "required": ["b"]}}}
    assert rewriter(Detail(depth=1)).value(schema, 0, 0) == {"type": "object", "properties": {"a": {"type": "object"}}}
    assert rewriter(Detail(depth=0)).value({"properties": {}}, 0, 0) == {"properties": {}}


def test_what_is_nested_too_deep_says_nothing() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(2 * MAX_LEVELS):
        schema = {"type": "array", "items": schema}
    result = rewriter().value(schema, 0, 0)
    for _ in range(MAX_LEVELS + 1):
        result = result["items"]
    assert result == {}


def test_with_less_detail_nothing_is_copied() -> None:
    plain = Detail(copies=False)
    assert rewriter(plain, 0).value(True, 0, 0) == {}
    assert rewriter(plain, 0).value({"$ref": "#/properties/place"}, 0, 0) == {"$ref": "#/$defs/place"}
    assert rewriter(plain, 0).value({"$ref": "#/$defs/A", "maxLength": 1}, 0, 0) == {"$ref": "#/$defs/A"}
    assert rewriter(Detail(references=False)).value({"$ref": "#/$defs/A", "maxLength": 1}, 0, 0) == {"maxLength": 1}


def test_the_root_has_its_own_ways() -> None:
    assert rewriter().root({"type": "object", "title": 5}, set()) == {"type": "object"}
    root = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert rewriter().accepted_root(root) is root
