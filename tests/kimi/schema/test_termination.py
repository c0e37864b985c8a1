from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.keywords import anything
from moongate.kimi.schema.step_budget import StepBudget
from moongate.kimi.schema.termination import terminating
from moongate.kimi.schema.validate import validate_schema


def obj(required: bool = True, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {**schema, "required": list(properties)} if required else schema


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (obj(a={"$ref": "#"}), obj(False, a={"$ref": "#"})),
        (
            {**obj(a=ref("A")), "$defs": {"A": obj(b=ref("B")), "B": obj(c=ref("A"))}},
            {**obj(a=ref("A")), "$defs": {"A": obj(b=ref("B")), "B": obj(False, c=ref("A"))}},
        ),
        (
            {**obj(a=ref("A")), "$defs": {"A": {"type": "array", "items": ref("A")}}},
            {**obj(False, a=ref("A")), "$defs": {"A": {"type": "array", "items": ref("A")}}},
        ),
        (
            {**obj(a=ref("A")), "$defs": {"A": {"properties": {"b": {}}, "items": {}}}},
            {**obj(a=ref("A")), "$defs": {"A": obj(False, b={})}},
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"title": "t"}}},
            {"$ref": "#/$defs/A", "$defs": {"A": {"title": "t", **anything()}}},
        ),
        (
            {"anyOf": [ref("A")], "$defs": {"A": {"type": "array", "items": {"items": {}, "anyOf": [ref("A")]}}}},
            {"anyOf": [ref("A")], "$defs": {"A": {"type": "array", "items": {"anyOf": [ref("A")]}}}},
        ),
        (
            {"anyOf": [{"additionalProperties": obj(a=ref("A")), **ref("A")}], "$defs": {"A": obj(x=ref("A"))}},
            {
                "anyOf": [{"additionalProperties": obj(a=ref("A")), **ref("A")}],
                "$defs": {"A": obj(False, x=ref("A"))},
            },
        ),
    ],
)
def test_the_innermost_place_that_cannot_end_is_made_to(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert terminating(schema, StepBudget()) == expected


def test_an_array_of_itself_without_an_object_around_it_loses_its_items() -> None:
    schema = {"anyOf": [ref("A")], "$defs": {"A": {"type": "array", "items": ref("A")}}}
    assert terminating(schema, StepBudget())["$defs"]["A"] == {"type": "array"}


def test_places_inside_other_places_are_changed_too() -> None:
    loop = obj(a=ref("A"))
    definitions = {"A": {"type": "object", "additionalProperties": loop, **obj(x={"anyOf": [loop]})}}
    schema = {**obj(a=ref("A")), "$defs": definitions}
    definition = terminating(schema, StepBudget())["$defs"]["A"]
    assert "required" not in definition["additionalProperties"]
    assert "required" not in definition["properties"]["x"]["anyOf"][0]


def test_what_ends_stays_the_same_object() -> None:
    schema = {**obj(False, a=ref("A"), b={"items": {}, "anyOf": [{}]}), "$defs": {"A": obj(x=ref("A"))}}
    assert terminating(schema, StepBudget()) is schema


def test_long_circles_cost_steps_in_proportion() -> None:
    count = 2000
    definitions = {f"d{at}": obj(n=ref(f"d{(at + 1) % count}")) for at in range(count)}
    steps = StepBudget()
    result = terminating({**obj(a=ref("d0")), "$defs": definitions}, steps)
    assert sum("required" not in each for each in result["$defs"].values()) == 1
    assert 200_000 - steps.left < 30 * count
    assert validate_schema({**obj(a={"$ref": "#"}), "$defs": {}}, "strict") is not None
