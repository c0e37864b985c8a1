from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.finite_places import FinitePlaces
from moongate.kimi.schema.step_budget import StepBudget

LEAF: dict[str, Any] = {"type": "string"}
LOOP: dict[str, Any] = {"$ref": "loop"}
TARGETS: dict[str, dict[str, Any]] = {"loop": LOOP, "leaf": LEAF}


def ends(schema: dict[str, Any]) -> bool:
    return FinitePlaces(TARGETS.get, StepBudget()).ends(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        LEAF,
        {"type": ["object", "null"], "required": ["a"], "properties": {"a": LOOP}},
        {"type": "array"},
        {"type": "array", "items": {}},
        {"type": "array", "items": LEAF},
        {"type": "object", "properties": {"a": LOOP}},
        {"type": "object", "properties": {"a": LOOP}, "required": []},
        {"type": "object", "properties": {}, "required": ["a"]},
        {"type": ["object"], "properties": {"a": LOOP, "b": LEAF}, "required": ["a", "b", "c"]},
        {"anyOf": [LOOP, True, LEAF]},
        {"$ref": "leaf"},
    ],
)
def test_what_ends(schema: dict[str, Any]) -> None:
    assert ends(schema)


@pytest.mark.parametrize(
    "schema",
    [
        LOOP,
        {"description": "no type"},
        {"type": "array", "items": LOOP},
        {"type": "object", "properties": {"a": LOOP, "b": LEAF}, "required": ["a"]},
        {"anyOf": [LOOP]},
        {"$ref": "missing"},
        {"$ref": 5},
    ],
)
def test_what_does_not_end(schema: dict[str, Any]) -> None:
    assert not ends(schema)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "bogus"}, True),  # any word but the two
        ({"type": ["bogus"]}, True),
        ({"type": []}, False),
        ({"type": {"a": 1}}, False),
        ({"type": [{"a": 1}, 5]}, False),
        ({"type": 5, "anyOf": [LEAF]}, True),
        ({"anyOf": []}, True),
        ({"anyOf": 5}, False),
        ({"type": "array", "items": None}, True),
        ({"type": "array", "items": []}, False),
        ({"type": "array", "items": "x"}, False),
        ({"type": "object", "required": None, "properties": {"a": LOOP}}, True),
        ({"type": "object", "required": "a", "properties": {"a": LEAF}}, False),
        ({"type": "object", "required": ["a"], "properties": 5}, True),
        ({"type": "object", "required": ["a", {}], "properties": {"a": LEAF}}, True),
        ({"type": "object", "required": ["a"], "properties": {"a": LEAF, "b": 5}}, False),
        ({"type": "object", "required": {"a": 1}, "properties": {"a": 5}}, False),
    ],
)
def test_places_that_no_rule_has_looked_at_may_hold_anything(schema: dict[str, Any], expected: bool) -> None:
    """A reference may lead into a keyword that Moonshot's validator passes over."""
    assert ends(schema) is expected


def test_places_are_shared_between_questions_and_can_be_made_to_end() -> None:
    finite = FinitePlaces(TARGETS.get, StepBudget())
    outer = {"anyOf": [LOOP]}
    assert not finite.ends(outer)
    assert list(finite.places.values()) == [outer, LOOP]
    finite.mark(id(LOOP))
    assert finite.ends(outer)
    assert finite.ends({"anyOf": [LOOP]})


def test_many_places_cost_steps_in_proportion() -> None:
    chain: dict[str, dict[str, Any]] = {str(index): {"$ref": str(index + 1)} for index in range(2000)}
    steps = StepBudget()
    finite = FinitePlaces(chain.get, steps)
    assert not any(finite.ends(schema) for schema in reversed(chain.values()))
    assert 200_000 - steps.left < 10_000
