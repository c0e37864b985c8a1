"""Does a value fit a schema?"""

from __future__ import annotations

import time
from typing import Any

import pytest

from moongate.kimi.guard import bounds, keywords
from moongate.kimi.guard.check import (
    MAX_DEPTH,
    MAX_STEPS,
    CheckSteps,
    Mismatch,
    SchemaCheck,
    TooMuchWork,
    has_type,
    path_text,
    rules_for,
    type_of,
)
from moongate.kimi.guard.tool_schemas import ToolSchema
from moongate.payload import JsonObject, dumps_text

assert bounds
assert keywords  # they declare the keywords


def why(schema: Any, value: Any) -> str | None:
    found = SchemaCheck(schema).mismatch(value)
    return None if found is None else str(found)


def test_a_mismatch_names_its_place() -> None:
    schema = {"properties": {"todos": {"items": {"type": "string"}}}}
    assert why(schema, {"todos": ["a", 1]}) == "todos[1]: must be string, not integer 1"
    assert why({"type": "object"}, []) == "the arguments: must be object, not array []"
    assert why(schema, {"todos": ["a"]}) is None


@pytest.mark.parametrize(
    "schema", [True, {}, None, 7, "x", {"type": 7}, {"type": [7]}, {"type": "OBJECT"}, {"type": ["int", "null"]}]
)
def test_schemas_that_say_nothing_refuse_nothing(schema: Any) -> None:
    assert why(schema, {"a": [None, True, 1, 1.5, "x"]}) is None


@pytest.mark.parametrize("wanted", ["OBJECT", "int", ["str", "null"]])
def test_a_type_that_there_is_not_refuses_nothing(wanted: Any) -> None:
    values: list[Any] = [{}, [], 1, "a", None]
    assert [why({"type": wanted}, value) for value in values] == [None] * 5


def test_every_value_has_its_rules() -> None:
    for value, keyword in ((1.5, "minimum"), ("a", "minLength"), ([], "items"), ({}, "required"), (None, "type")):
        assert keyword in dict(rules_for(value))
    assert [name for name, _ in rules_for(True)] == [name for name, _ in rules_for(None)]


def test_the_schema_false_refuses_everything() -> None:
    assert why(False, 1) == "the arguments: is not allowed"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
    ],
)
def test_types(value: Any, kind: str) -> None:
    assert type_of(value) == kind
    assert has_type(value, (kind,))
    assert has_type(value, ())
    assert not has_type(value, ("object",))


def test_an_integer_is_a_number() -> None:
    assert has_type(1, ("number",))
    assert has_type([], ("array",))
    assert not has_type(1.5, ("integer",))


def test_local_references_are_followed() -> None:
    schema = {
        "$defs": {"a/b~c d": {"type": "string"}, "list": [{"type": "integer"}]},
        "properties": {"x": {"$ref": "#/$defs/a~1b~0c%20d"}, "y": {"$ref": "#/$defs/list/0"}, "z": {"$ref": "#"}},
    }
    assert why(schema, {"x": 1}) == "x: must be string, not integer 1"
    assert why(schema, {"y": "a"}) == 'y: must be integer, not string "a"'
    assert why(schema, {"z": {"x": 1}}) == "z.x: must be string, not integer 1"


@pytest.mark.parametrize("reference", ["https://example.com/a", "#/nowhere", "#/$defs/list/9", "#anchor", 7])
def test_references_that_lead_nowhere_refuse_nothing(reference: Any) -> None:
    assert why({"$defs": {"list": []}, "$ref": reference}, 1) is None


def test_a_check_that_would_take_too_long_refuses_nothing() -> None:
    assert why({"$ref": "#"}, 1) is None
    branches: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, 30):
        branches[f"d{level}"] = {"anyOf": [{"$ref": f"#/$defs/d{level - 1}"}] * 2}
    assert why({"$defs": branches, "$ref": "#/$defs/d29"}, 1) is None
    check = SchemaCheck({})
    with pytest.raises(TooMuchWork):
        check.spend(10**9)
    deep: Any = {"type": "string"}
    for _ in range(MAX_DEPTH + 1):
        deep = {"items": deep}
    value: Any = 1
    for _ in range(MAX_DEPTH + 1):
        value = [value]
    assert why(deep, value) is None


def test_paths() -> None:
    assert path_text(()) == "the arguments"
    assert path_text(("a", 0, "b")) == "a[0].b"
    assert str(Mismatch(("a",), "is wrong")) == "a: is wrong"


def test_parts_are_checked_alone() -> None:
    assert SchemaCheck({}).fits({"type": "string"}, "a")
    assert not SchemaCheck({}).fits({"type": "string"}, 1)


def test_checks_of_one_answer_share_their_steps() -> None:
    steps = CheckSteps(100)
    schema = {"anyOf": [{"type": "string"}] * 60}
    assert SchemaCheck(schema, steps=steps).mismatch(1) is not None
    assert SchemaCheck(schema, steps=steps).mismatch(1) is None, "no steps are left: what cannot be checked fits"
    assert steps.left == 0
    steps.add_for("x" * 200)
    assert SchemaCheck(schema, steps=steps).mismatch(1) is not None
    steps.add_for("x" * 10 * MAX_STEPS)
    assert steps.left == MAX_STEPS


LARGE = [1] * 20_000
BRANCHES = 2000
TWO = {"a": "x", "b": 1}
MANY: JsonObject = {"properties": {f"a{n}": {} for n in range(1000)}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"anyOf": [{"type": "string"}] * BRANCHES}, LARGE),
        ({"anyOf": [{"type": "array", "items": {"type": "string"}}] * BRANCHES}, dumps_text(LARGE)),
        ({"anyOf": [{"const": LARGE[1:]}] * BRANCHES}, LARGE),
        ({"anyOf": [{"const": "x" * 20_000 + "y"}] * BRANCHES}, "x" * 20_000 + "z"),
        ({"anyOf": [{"enum": [[1]]}] * BRANCHES}, LARGE),
        ({"allOf": [{"uniqueItems": True}] * BRANCHES}, list(range(20_000))),
        ({"type": ["string"] * 100_000}, 1),
        ({"items": {"type": ["string"] * 1000 + ["integer"]}}, LARGE),
        ({"items": {"required": ["a"] * 1000}}, [{"a": 1}] * 10_000),
        ({"items": {"dependentRequired": {f"a{n}": [] for n in range(1000)}}}, [{"a": 1}] * 10_000),
        ({"items": {"dependentSchemas": {f"a{n}": {} for n in range(1000)}}}, [{"a": 1}] * 10_000),
        ({"items": {"unevaluatedProperties": False, "allOf": [MANY] * 20}}, [{"a1": 1}] * 10_000),
        ({"items": {"unevaluatedProperties": False, "allOf": [MANY] * 20}}, [{"a_1": 1}] * 10_000),
        ({"unevaluatedProperties": False, "anyOf": [{"$ref": "#"}] * 20}, {"a": 1}),
        ({"anyOf": [{**MANY, "additionalProperties": False}] * BRANCHES}, {"b": 1, "a1": 1}),
        (
            {"anyOf": [{"properties": {"a": {"enum": list(range(1000))}}, "additionalProperties": False}] * BRANCHES},
            TWO,
        ),
        ({"items": {"dependencies": {f"a{n}": [] for n in range(1000)}}}, [{"a": 1}] * 10_000),
        ({"items": {"enum": list(range(1000))}}, ["x"] * 20_000),
        ({"items": {"type": "integer"}}, ["5"] * 20_000),
        ({"anyOf": [{"additionalProperties": False}] * BRANCHES}, {f"a{n}": n for n in range(10_000)}),
        (
            {"properties": {f"aB{n}": {} for n in range(5000)}, "additionalProperties": False},
            {f"a_b_{n}": n for n in range(5000)},
        ),
    ],
)
def test_what_a_step_costs_is_bounded(schema: JsonObject, value: object) -> None:
    """The steps are few, so that work which is not counted would be most of the time."""
    started = time.thread_time()
    for _ in range(200_000):
        type_of(value)
    unit = time.thread_time() - started  # of the cheapest steps
    started = time.thread_time()
    tool = ToolSchema(schema)
    tool.mismatch(value, CheckSteps(50_000))
    tool.mended(value, CheckSteps(50_000))
    assert time.thread_time() - started < 100 * unit + 1
