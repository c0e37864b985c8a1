from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.schema.keywords import MAX_PROPERTIES, MAX_SIZE, anything
from moongate.kimi.schema.normalise import enough_steps, normalise_schema, normalised
from moongate.kimi.schema.step_budget import MAX_STEPS, StepBudget
from moongate.kimi.schema.validate import validate_schema
from moongate.payload import dumps


def product(levels: int) -> dict[str, Any]:
    """Unions that hold together on every level: written out, they double each time."""
    schema: dict[str, Any] = {"type": "object"}
    for level in range(levels):
        left = {"anyOf": [{"properties": {"a": schema}}, {"required": [f"b{level}"]}]}
        right = {"anyOf": [{"properties": {"a": {"minLength": 1}}}, {"properties": {"c": {}}}]}
        schema = {"allOf": [left, right]}
    return {"type": "object", "properties": {"x": schema}}


@pytest.mark.parametrize("parameters", [None, True, []])
def test_no_parameters_are_an_empty_object(parameters: Any) -> None:
    assert normalise_schema(parameters) == {"type": "object", "properties": {}}


@pytest.mark.parametrize("parameters", [False, 5, "x", [1]])
def test_what_is_no_schema_is_the_clients_fault(parameters: Any) -> None:
    with pytest.raises(BadRequest, match="tool 'pick'") as refused:
        normalise_schema(parameters, tool="pick")
    assert refused.value.path == "parameters"


def test_what_passes_the_level_in_force_stays_the_same_object() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "uri"}}, "$schema": "s"}
    assert normalise_schema(schema, level="strict") is schema
    assert normalise_schema(schema) == {"type": "object", "properties": {"a": {"type": "string"}}}
    empty: dict[str, Any] = {}
    assert normalise_schema(empty) is empty


def test_what_is_refused_anywhere_passes_the_strictest_level() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "anyOf": [{"minLength": 1}]}, "b": {"format": "x", "items": {}}},
    }
    before = copy.deepcopy(schema)
    result = normalise_schema(schema, level="strict")
    assert result["properties"] == {"a": {"anyOf": [{"type": "string", "minLength": 1}]}, "b": {"items": {}}}
    assert schema == before


def test_definitions_go_to_the_root() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/P"}, "b": {"$ref": "#/$defs/Q"}},
        "definitions": {"P": {"type": "string"}, "unused": {"type": "null"}},
        "$defs": {"Q": {"$ref": "#/definitions/P"}},
    }
    result = normalise_schema(schema)
    assert result["$defs"] == {"Q": {"$ref": "#/$defs/P"}, "P": {"type": "string"}}
    assert "definitions" not in result


def test_a_required_property_that_contains_itself_is_no_longer_required() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    assert normalise_schema(schema, level="strict") == {"type": "object", "properties": {"a": {"$ref": "#"}}}


def test_the_names_of_changed_properties_are_noted() -> None:
    found = normalised({"type": "object", "properties": {"required": {"type": "string"}}, "required": ["required"]})
    ((sent, original),) = found.names.items()
    assert original == "required"
    assert found.schema["required"] == [sent] == list(found.schema["properties"])
    assert normalised(found.schema).names == {}


def test_a_remote_reference_names_tool_and_place() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "https://x.example/a.json"}}}
    with pytest.raises(BadRequest, match="fetch_page") as refused:
        normalise_schema(schema, tool="fetch_page")
    assert refused.value.path == "parameters.properties.a.$ref"


@pytest.mark.parametrize("levels", [3, 6, 12, 40])
def test_a_product_of_unions_does_not_explode(levels: int) -> None:
    schema = product(levels)
    steps = StepBudget()
    result = normalise_schema(schema, steps=steps)
    assert validate_schema(result, "ultra") is None
    size = len(dumps(schema))
    assert MAX_STEPS - steps.left < 3 * (4000 + size)
    assert len(dumps(result)) <= 4 * size + 64 * 1024


def test_a_schema_that_is_too_large_loses_detail_far_from_its_root() -> None:
    leaf = {"type": "string", "description": "d" * 200}
    deep = {"type": "object", "properties": {f"p{at}": leaf for at in range(20)}}
    for _ in range(4):
        deep = {"type": "object", "properties": {"a": deep, "b": leaf}}
    schema = {"type": "object", "properties": {f"q{at}": deep for at in range(60)}, "required": ["q0"]}
    assert len(dumps(schema)) > MAX_SIZE
    result = normalise_schema(schema)
    assert validate_schema(result, "ultra") is None
    assert list(result["properties"]) == list(schema["properties"])
    assert result["required"] == ["q0"]


def test_where_nothing_fits_everything_becomes_anything() -> None:
    schema = {"type": "object", "properties": {f"p{at}": True for at in range(2900)}}
    assert normalise_schema(schema)["properties"]["p0"] == {}
    assert normalise_schema({"type": "object", "properties": {"p0": True}})["properties"]["p0"] == anything()


def test_what_does_not_fit_with_the_least_detail_is_the_clients_fault() -> None:
    for schema in (
        {"type": "object", "properties": {f"p{at}": {} for at in range(4000)}},
        {"type": "object", "properties": {f"p{at}": {"description": "x" * 100} for at in range(2000)}},
    ):
        with pytest.raises(BadRequest, match="tool 'big': the parameters are too large or too complex"):
            normalise_schema(schema, tool="big")


def test_all_schemas_of_a_request_share_one_budget() -> None:
    steps = StepBudget(5000)
    schema = {"type": "object", "properties": {f"p{at}": {"format": "x"} for at in range(100)}}
    normalise_schema(schema, steps=steps)
    assert 0 <= steps.left < 5000
    steps.left = 100
    assert normalise_schema(schema, steps=steps) == {"type": "object"}
    assert normalise_schema({"enum": [[1]], "title": 5}, steps=StepBudget(0)) == {}
    too_wide = {"type": "object", "properties": {f"p{at}": {} for at in range(MAX_PROPERTIES + 1)}}
    with pytest.raises(BadRequest, match="tool 'next'"):
        normalise_schema(too_wide, tool="next", steps=steps)


def test_tools_that_take_many_steps_leave_some_for_those_behind_them() -> None:
    place = {
        "type": "object",
        "format": "x",
        "properties": {"a": {"type": "object", "properties": {"b": {"format": 1}}}},
    }
    schema = {"type": "object", "properties": {f"p{at}": place for at in range(60)}}
    steps = StepBudget()
    sent = [str(normalise_schema({**schema, "title": f"{at}"}, steps=steps)) for at in range(128)]
    assert "'b'" in sent[0]
    assert "'p59'" in sent[40]
    assert sent[-1] == "{'type': 'object'}"
    assert validate_schema({"type": "object", "properties": {"a": {}}}, "strict", steps=steps) is None


def test_a_good_schema_behind_them_stays_the_same() -> None:
    steps = StepBudget()
    schema = {"type": "object", "properties": {f"p{at}": {"format": "x"} for at in range(300)}}
    for at in range(30):
        normalise_schema({**schema, "title": f"{at}"}, steps=steps)
    good = {"type": "object", "properties": {f"p{at}": {"type": "string"} for at in range(300)}}
    assert normalise_schema(good, steps=steps) is good


def test_with_enough_steps_a_schema_has_as_much_detail_as_alone() -> None:
    assert enough_steps(10**9) == MAX_STEPS
    assert enough_steps(0) < enough_steps(1000) < MAX_STEPS


def test_a_schema_refused_by_its_depth_through_references_loses_them() -> None:
    definitions = {
        f"d{at}": {"type": "object", "properties": {"n": {"$ref": f"#/$defs/d{at + 1}"}}} for at in range(40)
    }
    definitions["d40"] = {"type": "object"}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d0"}, "b": {"type": "string"}},
        "$defs": definitions,
    }
    assert validate_schema(schema, "strict") is not None
    assert normalise_schema(schema) == {"type": "object", "properties": {"a": {}, "b": {"type": "string"}}}


def test_the_work_grows_with_the_size() -> None:
    def cost(levels: int) -> float:
        schema = product(levels)
        start = time.process_time()
        normalise_schema(schema)
        return (time.process_time() - start) / len(dumps(schema))

    small = min(cost(10) for _ in range(5))
    large = min(cost(38) for _ in range(5))
    assert large < 8 * small


def test_references_in_bounds_are_left_out() -> None:
    """Moonshot follows them, but only where no type says what bounds are."""
    place = {"minimum": {"$ref": "#/$defs/A"}, "maximum": 3}
    schema = {"type": "object", "properties": {"a": place}, "$defs": {"A": {"type": "integer"}}}
    assert normalise_schema(schema) == {**schema, "properties": {"a": {"maximum": 3}}}
