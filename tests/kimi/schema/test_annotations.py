from __future__ import annotations

from typing import Any

from moongate.kimi.schema.annotations import MAX_LEVELS, AnnotatedReferences
from moongate.kimi.schema.conjunctions import CopyBudget
from moongate.kimi.schema.step_budget import StepBudget

POINT: dict[str, Any] = {"type": "object", "description": "a point", "properties": {"x": {"type": "integer"}}}


def settled(root: dict[str, Any], copies: int = 10_000) -> dict[str, Any]:
    steps = StepBudget()
    return AnnotatedReferences(root, CopyBudget(copies, steps), steps).settled()


def root(place: dict[str, Any], **definitions: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": place}, "$defs": {"P": POINT, **definitions}}


def test_annotations_on_both_sides_write_the_definition_in_place() -> None:
    result = settled(root({"$ref": "#/$defs/P", "description": "mine"}))
    assert result["properties"]["a"] == {**POINT, "description": "mine"}
    assert result["$defs"]["P"] is POINT


def test_annotations_on_one_side_stay() -> None:
    for place in (
        {"$ref": "#/$defs/P", "title": "mine"},
        {"$ref": "#/$defs/P"},
        {"$ref": "#/$defs/gone", "title": "t"},
    ):
        schema = root(place)
        assert settled(schema) is schema


def test_every_place_outside_definitions_is_looked_at() -> None:
    place = {"$ref": "#/$defs/P", "description": "mine"}
    for outer in (
        {"type": "array", "items": place},
        {"additionalProperties": place},
        {"anyOf": [place, {"type": "null"}]},
        {"type": "object", "properties": {"b": place}},
    ):
        assert "$ref" not in str(settled(root(outer))["properties"])
    inside = root({"$ref": "#/$defs/Q"}, Q={"type": "array", "items": place})
    assert settled(inside) is inside


def test_the_annotation_outside_a_union_stays_also_where_branches_have_come() -> None:
    union = {"anyOf": [{"$ref": "#/$defs/P", "title": "t", "description": "mine"}, {"type": "null"}], "title": "out"}
    assert settled(root(union, P={**POINT, "title": "P"}))["properties"]["a"] == {
        "title": "out",
        "anyOf": [{**POINT, "description": "mine"}, {"type": "null"}],
    }


def test_an_annotation_that_a_branch_of_the_definition_has_too_writes_it_in_place() -> None:
    union: dict[str, Any] = {"anyOf": [{"type": "string", "description": "a name"}, {"type": "null"}]}
    place = {"$ref": "#/$defs/U", "description": "mine"}
    assert settled(root(place, U=union))["properties"]["a"] == {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "mine",
    }
    assert settled(root(place, U=union), 0)["properties"]["a"] == {"$ref": "#/$defs/U"}


def test_references_to_references_are_followed() -> None:
    link = {"$ref": "#/$defs/P", "title": "link"}
    result = settled(root({"$ref": "#/$defs/L", "title": "mine"}, L=link))
    assert result["properties"]["a"] == {**POINT, "title": "mine"}


def test_a_recursive_or_too_large_definition_loses_the_outer_one() -> None:
    for definition in (
        {**POINT, "properties": {"p": {"$ref": "#/$defs/P"}}},
        {**POINT, "properties": {"p": {"anyOf": [{"$ref": "#/$defs/Q"}]}}},
        {**POINT, "title": "x" * 20_000},
    ):
        place = {"$ref": "#/$defs/P", "description": "mine"}
        result = settled(root(place, P=definition, Q={"items": {"$ref": "#/$defs/P"}}))
        assert result["properties"]["a"] == {"$ref": "#/$defs/P"}
    assert settled(root(place), 0)["properties"]["a"] == {"$ref": "#/$defs/P"}


def test_a_circle_of_references_loses_the_outer_one() -> None:
    loop = {"$ref": "#/$defs/L", "title": "t"}
    assert settled(root({**loop, "title": "mine"}, L=loop))["properties"]["a"] == {"$ref": "#/$defs/L"}


def test_definitions_that_lead_on_and_on_are_copied_to_a_certain_level() -> None:
    definitions = {
        f"d{at}": {**POINT, "properties": {"p": {"$ref": f"#/$defs/d{at + 1}", "description": "mine"}}}
        for at in range(500)
    }
    definitions["d500"] = POINT
    schema = root({"$ref": "#/$defs/d0", "description": "mine"}, **definitions)
    place = settled(schema, 1_000_000)["properties"]["a"]
    levels = 0
    while "$ref" not in place:
        place, levels = place["properties"]["p"], levels + 1
    assert levels == MAX_LEVELS - 1


def test_what_two_places_refer_to_is_measured_once() -> None:
    place = {"$ref": "#/$defs/A", "description": "mine"}
    other = {"$ref": "#/$defs/B", "description": "mine"}
    schema = {
        "properties": {"a": place, "b": other, "c": {"anyOf": [{}], "items": {}}},
        "$defs": {
            "A": {**POINT, "items": {"$ref": "#/$defs/B"}},
            "B": {**POINT, "items": {"$ref": "#/$defs/C"}},
            "C": POINT,
        },
    }
    result = settled(schema)["properties"]
    assert [result[name]["description"] for name in "ab"] == ["mine", "mine"]


def test_many_references_cost_steps_in_proportion() -> None:
    definitions = {f"d{at}": {**POINT, "properties": {"p": {"$ref": f"#/$defs/d{at + 1}"}}} for at in range(60)}
    place = {"$ref": "#/$defs/d0", "description": "mine"}
    schema = {"type": "object", "properties": {f"p{at}": place for at in range(500)}, "$defs": definitions}
    steps = StepBudget()
    AnnotatedReferences(schema, CopyBudget(10_000, steps), steps).settled()
    assert 200_000 - steps.left < 20_000
