"""The parameters of a tool: the root, its definitions, and the host's limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.schema.normalise import normalise_schema
from moongate.kimi.schema.validate import validate_schema
from moongate.kimi.schema.words import MAX_PROPERTY_KEYS, MAX_SIZE, anything
from moongate.payload import dumps

NONE = {"type": "object", "properties": {}}
STRING = {"type": "string"}


@pytest.mark.parametrize("parameters", [None, True, {}, [], {"$schema": "s"}, {"type": "any"}, {"anyOf": [False]}])
def test_no_parameters(parameters: Any) -> None:
    assert normalise_schema(parameters) == NONE


@pytest.mark.parametrize("parameters", [False, 0, 1.5, "", "object", [1]])
def test_what_is_no_schema_is_refused(parameters: Any) -> None:
    with pytest.raises(BadRequest, match="pick") as refused:
        normalise_schema(parameters, tool="pick")
    assert refused.value.path == "parameters"


def test_a_good_schema_is_the_same_object() -> None:
    for good in ({"type": "object"}, NONE, {**NONE, "$defs": {}}, {**NONE, "$defs": {"A": STRING}}):
        assert normalise_schema(good) is good


def test_the_root_is_an_object() -> None:
    assert normalise_schema({"type": "string", "minLength": 1, "title": "t"}) == {"type": "object", "title": "t"}
    assert normalise_schema({"type": ["object", "null"], "properties": {"a": STRING}, "enum": [1]}) == {
        "type": "object",
        "properties": {"a": STRING},
    }
    assert normalise_schema({"type": "object", "$schema": "s", "properties": {"a": STRING}, "minLength": 2}) == {
        "type": "object",
        "properties": {"a": STRING},
    }


def test_a_union_at_the_root_is_merged() -> None:
    schema = {
        "anyOf": [
            {"$ref": "#/$defs/A"},
            {"oneOf": [{"properties": {"kind": {"const": "b"}}, "required": ["kind", "b"]}, {"type": "null"}]},
            {"type": "string"},
            False,
        ],
        "description": "d",
        "$defs": {"A": {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]}},
    }
    assert normalise_schema(schema) == {
        "type": "object",
        "description": "d",
        "properties": {"kind": {"type": "string", "enum": ["a", "b"]}},
        "required": ["kind"],
        "$defs": {
            "A": {
                "type": "object",
                "properties": {"kind": {"type": "string", "enum": ["a"]}},
                "required": ["kind"],
            }
        },
    }
    assert normalise_schema({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "t"}) == {**NONE, "title": "t"}


def test_a_reference_at_the_root_is_followed() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N", "title": "t"}}}
    bare = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}
    assert normalise_schema({"$ref": "#/$defs/N", "$defs": {"N": node}}) == {**bare, "$defs": {"N": bare}}


def test_unions_nested_without_end() -> None:
    schema: dict[str, Any] = {"properties": {"deep": STRING}}
    for number in range(500):
        schema = {"anyOf": [schema, {"properties": {f"p{number}": STRING}}]}
    assert validate_schema(normalise_schema(schema)) is None


def test_definitions_move_to_the_root() -> None:
    assert normalise_schema(
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/definitions/P"}, "b": {"$ref": "#/$defs/P"}},
            "definitions": {"P": STRING},
            "$defs": {"P": {"const": 1}},
        }
    ) == {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/P_2"}, "b": {"$ref": "#/$defs/P"}},
        "$defs": {"P": {"type": "integer", "enum": [1]}, "P_2": STRING},
    }
    odd: Any
    for odd in (3, 0, "", [], None):
        assert normalise_schema({**NONE, "$defs": odd}) == NONE
        assert normalise_schema({**NONE, "definitions": {"A": STRING}, "$defs": odd}) == {
            **NONE,
            "$defs": {"A": STRING},
        }


def test_definitions_made_on_the_way_are_normalised_too() -> None:
    node = {"properties": {"next": {"$ref": "#/properties/node"}}}
    result = normalise_schema({"type": "object", "properties": {"node": node}})
    assert result["$defs"] == {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}
    assert validate_schema(result) is None


def test_a_remote_reference_is_refused() -> None:
    with pytest.raises(BadRequest, match="fetch_page") as refused:
        normalise_schema({"properties": {"a": {"$ref": "https://schemas.example/a"}}}, tool="fetch_page")
    assert refused.value.path == "parameters.properties.a.$ref"


def test_a_schema_that_is_too_large_loses_detail_far_from_the_root() -> None:
    def layer(below: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "properties": {f"k{number}": below for number in range(8)}}

    schema: dict[str, Any] = STRING
    for _ in range(5):
        schema = layer(schema)
    result = normalise_schema(schema)
    assert validate_schema(result) is None
    assert result["properties"]["k0"]["properties"]["k0"] == {"type": "object"}


def test_a_schema_that_stays_too_large_is_refused() -> None:
    wide = {"type": "object", "properties": {f"k{n}": STRING for n in range(MAX_PROPERTY_KEYS + 1)}}
    long = {"type": "object", "description": "x" * MAX_SIZE}
    for schema in (wide, long):
        with pytest.raises(BadRequest, match=r"'t'.*too large"):
            normalise_schema(schema, tool="t")


def test_references_that_would_not_fit_inlined_stay_references() -> None:
    big = {"type": "string", "description": "x" * 2000}
    schema = {
        "type": "object",
        "properties": {f"k{n}": {"$ref": "#/$defs/B", "title": str(n)} for n in range(100)},
        "$defs": {"B": big},
    }
    result = normalise_schema(schema)
    assert validate_schema(result) is None
    assert result["properties"]["k0"] == {**big, "title": "0"}
    assert result["properties"]["k99"] == {"anyOf": [{"$ref": "#/$defs/B"}], "title": "99"}


def doubling(count: int) -> dict[str, Any]:
    """Each definition uses the next one twice, with words beside it: inlined, 2 ** count copies."""
    definitions: dict[str, Any] = {f"D{count}": STRING}
    for n in range(count):
        twice = {side: {"$ref": f"#/$defs/D{n + 1}", "title": side} for side in ("left", "right")}
        definitions[f"D{n}"] = {"type": "object", "properties": twice}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/D0", "title": "t"}}, "$defs": definitions}


def chained(count: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"D{count}": STRING}
    for n in range(count):
        definitions[f"D{n}"] = {"allOf": [{"$ref": f"#/$defs/D{n + 1}"}] * 2, "title": "t"}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": definitions}


def nested(count: int) -> dict[str, Any]:
    schema: dict[str, Any] = STRING
    for _ in range(count):
        schema = {"allOf": [{"anyOf": [{"properties": {"a": schema}}]}]}
    return schema


def merged(count: int) -> dict[str, Any]:
    members = [
        {"properties": {f"k{n}": STRING, "k": {"minLength": n}}, "anyOf": [{"title": "t"}]} for n in range(count)
    ]
    return {"type": "object", "properties": {"a": {"allOf": members}}}


def pushed(count: int) -> dict[str, Any]:
    spread = {"properties": {f"k{n}": STRING for n in range(count)}, "anyOf": [{"title": "t"}] * (count // 8)}
    return {"type": "object", "properties": {"a": spread}}


@pytest.mark.parametrize("shape", [doubling, chained, nested, merged, pushed], ids=lambda shape: str(shape.__name__))
def test_the_work_is_linear_whatever_the_shape(shape: Callable[[int], dict[str, Any]]) -> None:
    def cost(count: int) -> float:
        schema = shape(count)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            result = normalise_schema(schema, tool="t")
            best = min(best, time.process_time() - start)
        assert validate_schema(result) is None
        return best

    # Four times the schema: a quadratic walk takes sixteen times as long. The base keeps tiny times comparable.
    assert cost(600) <= 9 * cost(150) + 0.05


def test_doubling_definitions_do_not_explode() -> None:
    assert len(dumps(normalise_schema(doubling(60)))) <= MAX_SIZE


def test_very_deep_values_are_no_trouble() -> None:
    deep: Any = STRING
    for _ in range(50_000):
        deep = {"type": "object", "properties": {"a": deep}}
    assert validate_schema(normalise_schema(deep)) is None
    lists: Any = []
    for _ in range(50_000):
        lists = [lists]
    result = normalise_schema({"type": "object", "properties": {"a": lists, "b": {"anyOf": lists}}})
    assert result["properties"]["a"] == anything()
