from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.schema.references import MAX_TOKENS, References, ReferenceTarget, subschemas
from moongate.kimi.schema.step_budget import StepBudget


def references(root: dict[str, Any]) -> References:
    return References(root, "pick", StepBudget())


def found(root: dict[str, Any], ref: str) -> Any:
    target = references(root).find(ref)
    return None if target is None else target.schema


ROOT: dict[str, Any] = {
    "$id": "urn:me",
    "$defs": {"A": {"type": "string"}, "a/b": {"title": "slash"}, "p%q": {"title": "percent"}},
    "definitions": {"P": {"title": "old"}},
    "properties": {
        "a": {"anyOf": [{"title": "first"}, {"$anchor": "mark"}]},
        "b": {"$id": "inner", "$defs": {"Q": {"title": "nested"}}},
    },
    "patternProperties": 5,
}


@pytest.mark.parametrize(
    ("ref", "title"),
    [
        *(("#/$defs/a~1b", "slash"), ("#/$defs/p%25q", "percent"), ("#/definitions/P", "old")),
        *(("#/properties/a/anyOf/0", "first"), ("#/$defs/Q", "nested"), ("urn:me#/definitions/P", "old")),
    ],
)
def test_local_references_are_found(ref: str, title: str) -> None:
    assert found(ROOT, ref)["title"] == title


def test_the_root_anchors_and_inner_ids_are_found() -> None:
    assert found(ROOT, "#") is ROOT
    assert found(ROOT, "#mark") == {"$anchor": "mark"}
    assert found(ROOT, "inner") is ROOT["properties"]["b"]
    known = references(ROOT)
    assert known.find("inner") is known.find("inner")
    assert known.find("#mark") is not None


@pytest.mark.parametrize(
    "ref", ["#/nowhere", "#/properties/a/anyOf/9", "#/properties/a/anyOf/x", "#/$defs/A/type/x", "#no"]
)
def test_what_points_at_nothing_is_none(ref: str) -> None:
    assert found(ROOT, ref) is None


def test_a_remote_reference_is_the_clients_fault_and_names_the_place() -> None:
    root = {"properties": {"a b": {"items": {"$ref": "https://x.example/s"}}}}
    with pytest.raises(BadRequest, match=r"tool 'pick': the remote reference 'https://x\.example/s'") as refused:
        references(root).find("https://x.example/s")
    assert refused.value.path == "parameters.properties.a b.items.$ref"
    with pytest.raises(BadRequest) as hidden:
        references({"examples": [{"$ref": "x"}]}).find("x")
    assert hidden.value.path == "parameters"


def test_definitions_keep_their_names_as_far_as_they_are_taken() -> None:
    known = references({"$defs": {"A": {}, "a/b": {}, "a_b": {}, "a~b": {}, "": {}}, "definitions": 5})
    assert [name for name, _ in known.definitions()] == ["A", "a_b", "a_b_2", "a_b_3", "definition"]
    assert known.definitions(4) == [("definition", ReferenceTarget("/$defs/", {}))]


def test_other_places_become_definitions_when_they_are_sent() -> None:
    known = references(ROOT)
    place, old = known.find("#/properties/a"), known.find("#/definitions/P")
    assert place is not None
    assert old is not None
    assert known.is_definition(old)
    assert known.is_definition(ReferenceTarget("", ROOT))
    assert not known.is_definition(place)
    assert known.sent(place) == known.sent(place) == "#/$defs/a"
    assert known.sent(old) == "#/$defs/P"
    assert known.sent(ReferenceTarget("", ROOT)) == "#"
    assert known.is_definition(place)
    assert [name for name, _ in known.definitions(3)] == ["a", "P"]


def test_roots_without_definitions_have_none() -> None:
    assert references({}).definitions() == []


def test_subschemas_are_found_with_their_pointers() -> None:
    root = {"properties": {"a/b": {"not": {}}}, "items": [{}, 5], "anyOf": [{}], "x": {}, "allOf": 5}
    keys = [key for key, _ in subschemas(root, StepBudget())]
    assert sorted(keys) == ["", "/anyOf/0", "/items/0", "/properties/a~1b", "/properties/a~1b/not"]
    deep: dict[str, Any] = {}
    for _ in range(2 * MAX_TOKENS):
        deep = {"not": deep}
    assert len(list(subschemas(deep, StepBudget()))) == MAX_TOKENS + 1


def test_many_names_that_collide_cost_steps_in_proportion() -> None:
    root: dict[str, Any] = {"$defs": {"/" * (at % 9) + "~" * (at // 9): {} for at in range(3000)}}
    steps = StepBudget()
    References(root, "", steps)
    assert 200_000 - steps.left < 4 * 3000
