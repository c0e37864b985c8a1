from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.conjunctions import Conjunctions, CopyBudget
from moongate.kimi.schema.references import References
from moongate.kimi.schema.step_budget import StepBudget

ROOT: dict[str, Any] = {
    "$defs": {
        "A": {"type": "string", "minLength": 1},
        "B": {"$ref": "#/$defs/A", "maxLength": 9},
        "R": {"allOf": [{"$ref": "#/$defs/R"}, {"title": "r"}]},
    }
}


def conjunctions(copies: int = 10_000, *, following: bool = True) -> Conjunctions:
    steps = StepBudget()
    return Conjunctions(References(ROOT, "", steps), CopyBudget(copies, steps), steps, following=following)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "x", "enum": []}, {"type": "string"}),
        ({"enum": "x", "const": 5}, {"enum": [5]}),
        ({"oneOf": [{"a": 1}]}, {"anyOf": [{"a": 1}]}),
        ({"oneOf": [], "anyOf": 5}, {}),
        ({"anyOf": [1, 2], "oneOf": [3]}, {"anyOf": [{"allOf": [1, 3]}, {"allOf": [2, 3]}]}),
        ({"items": [{"a": 1}, {"b": 1}]}, {"items": {"anyOf": [{"a": 1}, {"b": 1}]}}),
        ({"items": [{"a": 1}], "additionalItems": {"c": 1}}, {"items": {"anyOf": [{"a": 1}, {"c": 1}]}}),
        ({"prefixItems": [{"a": 1}], "items": {"c": 1}}, {"items": {"anyOf": [{"a": 1}, {"c": 1}]}}),
        ({"prefixItems": [], "items": False}, {}),
        ({"prefixItems": 5, "items": {}}, {"items": {}}),
        ({"patternProperties": {"x": {"a": 1}}}, {}),
        ({"patternProperties": 5, "additionalProperties": False}, {"additionalProperties": False}),
        ({"patternProperties": {"x": 1}, "additionalProperties": False}, {"additionalProperties": 1}),
        ({"patternProperties": {}, "additionalProperties": False}, {"additionalProperties": False}),
        (
            {"patternProperties": {"x": 1}, "additionalProperties": {"b": 1}},
            {"additionalProperties": {"anyOf": [{"b": 1}, 1]}},
        ),
    ],
)
def test_other_spellings_are_read(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert conjunctions().plain(schema) == expected


def test_members_of_all_of_hold_together() -> None:
    found = conjunctions().at({"title": "t", "allOf": [{"minLength": 1}, True, {"allOf": [{"maxLength": 2}]}]}, set())
    assert found.keywords == {"title": "t", "minLength": 1, "maxLength": 2}
    assert conjunctions().at({"allOf": 5}, set()).keywords == {}


def test_a_reference_with_nothing_but_annotations_stays() -> None:
    for schema in ({"$ref": "#/$defs/A", "title": "t"}, {"allOf": [{"$ref": "#/$defs/A"}], "title": "t"}):
        found = conjunctions().at(schema, set())
        assert found.reference is not None
        assert found.reference.key == "/$defs/A"
        assert found.keywords == {"title": "t"}


def test_a_type_that_the_target_has_anyway_adds_nothing() -> None:
    assert conjunctions().at({"$ref": "#/$defs/A", "type": "string"}, set()).reference is not None
    assert conjunctions().at({"$ref": "#/$defs/A", "type": "null"}, set()).reference is None
    assert conjunctions().at({"$ref": "#/$defs/B", "type": "string"}, set()).reference is None


def test_keywords_beside_a_reference_are_put_together_with_its_target() -> None:
    found = conjunctions().at({"$ref": "#/$defs/B", "minLength": 3}, set())
    assert found.keywords == {"type": "string", "minLength": 3, "maxLength": 9}
    assert found.followed == {"/$defs/A", "/$defs/B"}
    known = conjunctions()
    for _ in range(2):  # the size of a target is measured once
        assert known.at({"$ref": "#/$defs/A", "maxLength": 3}, set()).followed == {"/$defs/A"}
    twice = conjunctions().at({"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}, set())
    assert twice.keywords == {"type": "string", "minLength": 1}


@pytest.mark.parametrize(
    ("schema", "inside", "copies"),
    [
        ({"$ref": "#", "minLength": 1}, set(), 10_000),
        ({"$ref": "#/$defs/A", "minLength": 1}, {"/$defs/A"}, 10_000),
        ({"$ref": "#/$defs/A", "minLength": 1}, set(), 10),
        ({"$ref": "#/$defs/A", "minLength": 1}, set(), 0),
    ],
)
def test_what_cannot_be_copied_stays_a_reference(schema: dict[str, Any], inside: set[str], copies: int) -> None:
    assert conjunctions(copies).at(schema, inside).reference is not None


def test_references_say_nothing_where_they_are_not_followed() -> None:
    found = conjunctions(following=False).at({"$ref": "#/$defs/A", "minLength": 1}, set())
    assert found.reference is None
    assert found.keywords == {"minLength": 1}
    assert conjunctions().at({"$ref": "#/nowhere"}, set()).keywords == {}


def test_at_the_root_no_reference_stays() -> None:
    found = conjunctions().at_root({"allOf": [{"$ref": "#/$defs/B"}, {"$ref": "#"}, {"$ref": "#/$defs/R"}]}, set())
    assert found.keywords == {"type": "string", "minLength": 1, "maxLength": 9, "title": "r"}
    assert found.followed == {"/$defs/A", "/$defs/B", "/$defs/R"}
    assert conjunctions(0).at_root({"$ref": "#/$defs/A"}, set()).keywords == {}
    assert conjunctions().at_root({"$ref": "#/$defs/A"}, {"/$defs/A"}).keywords == {}


def test_unions_that_hold_together_are_multiplied_within_reason() -> None:
    def crossed(copies: int, *sizes: int) -> int:
        members = [{"anyOf": [{"minLength": at} for at in range(size)]} for size in sizes]
        return len(conjunctions(copies).at({"allOf": members}, set()).keywords["anyOf"])

    assert crossed(10_000, 4, 4) == 16
    assert crossed(10_000, 4, 5, 2) == 8
    assert crossed(10, 2, 2) == 2


def test_keywords_beside_a_union_move_into_its_branches() -> None:
    assert conjunctions().moved_into([{}, False], {"minLength": 1}) == [{"allOf": [{}, {"minLength": 1}]}, False]
    assert conjunctions().moved_into([{}], {}) == [{}]
    assert conjunctions(5).moved_into([{}], {"minLength": 1, "type": "string"}) == [{"allOf": [{}, {"type": "string"}]}]
    assert conjunctions(5).moved_into([{}], {"minLength": 1}) == [{}]
