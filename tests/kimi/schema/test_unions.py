from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.unions import are_constants, enumerated, with_default


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        ([{"const": 1}, {"const": "a", "title": "t", "type": "string"}], True),
        ([{"const": 1, "minimum": 2}], False),
        ([{"const": 1}, {"type": "string"}], False),
        ([{"const": 1}, True], False),
        ([], False),
        (None, False),
    ],
)
def test_unions_of_constants(branches: Any, expected: bool) -> None:
    assert are_constants(branches) is expected


def test_constants_become_an_enum() -> None:
    constants: list[dict[str, Any]] = [{"const": 1, "type": "integer"}, {"const": 2.5}, {"const": None, "type": 5}]
    assert enumerated({"title": "t", "anyOf": constants}, constants) == {
        "title": "t",
        "enum": [1, 2.5, None],
        "type": ["number", "null"],
    }
    assert enumerated({"type": "number", "enum": [1]}, constants) == {"type": "number", "enum": [1]}


def test_a_default_belongs_to_the_first_branch_of_its_type() -> None:
    branches: list[dict[str, Any]] = [{"$ref": "#"}, {"type": "string"}, {"type": "null"}, {"type": ["null", "array"]}]
    assert with_default(branches, None) == [*branches[:2], {"type": "null", "default": None}, branches[3]]
    assert with_default(branches, 5) is branches
    assert with_default([{"type": "string", "default": "x"}], "y") == [{"type": "string", "default": "x"}]
    assert with_default([{"type": ["null", "array"]}], []) == [{"type": ["null", "array"]}]
