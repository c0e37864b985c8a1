from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.lookups import any_looked_up, has_braces
from moongate.kimi.schema.step_budget import StepBudget


@pytest.mark.parametrize(
    ("name", "braced"), [("{id}", True), ("a}{", True), ("{id", False), ("id}", False), ("", False)]
)
def test_names_with_both_braces(name: str, braced: bool) -> None:
    assert has_braces(name) is braced


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a"]},
        {"anyOf": [{}]},
        {"$ref": "#/$defs/A"},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"enum": []}}}},
        {"type": "object", "additionalProperties": {"anyOf": []}},
    ],
)
def test_what_is_looked_up(schema: dict[str, Any]) -> None:
    assert any_looked_up(schema, StepBudget())


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"$ref": "#"},
        {"type": "object", "required": [], "properties": {"a": {"type": "string"}}, "additionalProperties": False},
        {"type": "array", "items": {"type": "string"}, "default": {"enum": 1}, "properties": []},
    ],
)
def test_what_is_not(schema: dict[str, Any]) -> None:
    assert not any_looked_up(schema, StepBudget())
