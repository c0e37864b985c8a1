from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.keywords import MAX_DEPTH, MAX_PROPERTIES, MAX_SIZE, Level
from moongate.kimi.schema.step_budget import StepBudget, StepsExhausted
from moongate.kimi.schema.validate import refusal, validate_schema


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"properties": {"a": {"type": "string"}}},
        {"anyOf": [{"type": "object"}], "$defs": {}},
        {
            "type": "object",
            "properties": {"a": {"items": {}}, "b": {"additionalProperties": {"type": "string"}}},
            "$defs": {"A": {"enum": ["x"], "type": "string"}},
        },
        {"items": {"properties": {}, "$defs": {"A": {"type": "string"}}}},
        nested(MAX_DEPTH),
    ],
)
def test_schemas_that_are_taken_at_both_levels(schema: dict[str, Any]) -> None:
    assert validate_schema(schema, "ultra") is None
    assert validate_schema(schema, "strict") is None
    assert refusal(schema) is None


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (5, "At path 'root': input schema must be a string or map"),
        ({"description": "x" * MAX_SIZE}, "At path 'root': schema exceeds maximum allowed size"),
        ({"description": "<" * (MAX_SIZE // 6)}, "At path 'root': schema exceeds maximum allowed size"),
        (nested(MAX_DEPTH + 1), "schema depth exceeds maximum limit of 30"),
        (
            {"type": "object", "properties": {f"{at}": {} for at in range(MAX_PROPERTIES + 1)}},
            "At path 'root': total number of properties keys(3001) across all objects exceeds maximum limit of 3000",
        ),
        (
            {**nested(MAX_DEPTH), "$defs": {"A": nested(MAX_DEPTH)}, "items": {"$ref": "#/$defs/A"}, "type": "array"},
            "invalid",
        ),
        (
            {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": nested(MAX_DEPTH)}},
            "At path 'root': schema depth exceeds maximum limit of 30",
        ),
        ({"anyOf": [{"items": []}]}, "At path 'anyOf.items': items must be an object"),
        ({"$defs": {"A": {"items": []}}}, "At path '$defs.A.items': items must be an object"),
        ({"$defs": {"A": True}}, "At path '$defs': $defs schema must be object"),
        (
            {"$defs": {"A": {"type": "object", "properties": {"a/b": {}}}}},
            "At path '$defs.A.properties': $defs property name 'a/b' cannot contain '/' character",
        ),
        (
            {"$defs": {"A": {"anyOf": [{"properties": {"a/b": {}}}, {}]}}},
            "At path '$defs.A.anyOf.properties': $defs property name 'a/b' cannot contain '/' character",
        ),
        (
            {"items": {"$defs": {"A": {"$defs": {"B": {"properties": {"a/b": {}}}}}}}},
            "At path 'items.$defs.A.$defs.B.properties': $defs property name 'a/b' cannot contain '/' character",
        ),
        ({"$ref": "#/$defs/B", "$defs": {}}, "At path 'root': invalid $ref path: #/$defs/B"),
    ],
)
def test_schemas_that_are_refused_at_the_strictest_level(schema: Any, text: str) -> None:
    assert text in (validate_schema(schema, "ultra") or "")


def test_the_server_passes_over_keywords_that_it_does_not_know() -> None:
    schema = {"$schema": "s", "properties": {"a": {"format": "uri", "type": "string", "minimum": 1}}}
    assert validate_schema(schema, "strict") is None
    assert validate_schema(schema, "ultra") == "At path 'root': unsupported keywords: $schema"
    del schema["$schema"]
    assert validate_schema(schema, "ultra") == "At path 'properties.a': unsupported keywords: format"


def test_the_message_of_a_refusal() -> None:
    assert refusal({"type": "any"}, level="ultra") == (
        "tools.function.parameters is not a valid moonshot flavored json schema, "
        "details: <At path 'root': invalid type>"
    )


def test_very_deep_schemas_are_no_stack_trace() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(4000):
        schema = {"type": "array", "items": schema}
    assert validate_schema(schema, "ultra") is None


def test_definitions_inside_definitions_are_searched_once() -> None:
    """For names with a slash."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        schema = {"$defs": {"A": schema}}
    assert validate_schema({"items": schema}, steps=StepBudget(1000)) is None
    assert validate_schema(schema, steps=StepBudget(1000)) is None


def test_the_work_is_bounded_by_the_steps() -> None:
    schema = {"type": "object", "properties": {f"{at}": {"type": "string"} for at in range(1000)}}
    with pytest.raises(StepsExhausted):
        validate_schema(schema, steps=StepBudget(1000))


@pytest.mark.parametrize("level", ["strict", "ultra"])
def test_nodes_below_a_name_with_braces_cannot_be_looked_up(level: Level) -> None:
    choice = {"type": "string", "enum": ["a"]}
    hidden = {"type": "object", "properties": {"{id}": {"type": "array", "items": choice}}}
    assert validate_schema(hidden, level) == "At path 'properties.{id}.items': invalid path: properties.{id}.items"
    defined = {"type": "object", "$defs": {"A{0}": choice}}
    assert validate_schema(defined, level) == "At path '$defs.A{0}': invalid path: $defs.A{0}"
    plain = {"type": "object", "properties": {"{id}": {"type": "string"}, "id": choice}, "required": ["{id}"]}
    assert validate_schema(plain, level) is None
