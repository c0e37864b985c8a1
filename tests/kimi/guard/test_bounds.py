"""The keywords that bound sizes and numbers."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.guard import bounds
from moongate.kimi.guard.check import SchemaCheck

BOUNDS: list[tuple[Any, list[Any], list[Any]]] = [
    ({"minLength": 2}, ["ab", "éé", 1], ["a"]),
    ({"maxLength": 2}, ["ab"], ["abc"]),
    ({"minItems": 1}, [[1]], [[]]),
    ({"maxItems": 1}, [[1]], [[1, 2]]),
    ({"minProperties": 1}, [{"a": 1}], [{}]),
    ({"maxProperties": 1}, [{"a": 1}], [{"a": 1, "b": 2}]),
    ({"maxProperties": "1"}, [{"a": 1, "b": 2}], []),
    ({"uniqueItems": True}, [[1, 2, "1"]], [[1, 1.0], [{"a": 1}, {"a": 1}]]),
    ({"uniqueItems": False}, [[1, 1]], []),
    ({"minimum": 1}, [1, 1.5, True, "a"], [0]),
    ({"maximum": 1}, [1], [1.5]),
    ({"exclusiveMinimum": 1}, [2], [1]),
    ({"exclusiveMaximum": 1}, [0], [1]),
    ({"exclusiveMaximum": True}, [5], []),
    ({"multipleOf": 3}, [6, -3, 0, 6.0, 3e20, float("inf")], [4, 6.5, 1e20]),
    ({"multipleOf": 0.5}, [1, 1.5], [1.25]),
    ({"multipleOf": 0.01}, [19.99, 0.07, 1e10 + 0.01, -4.35, 7], [19.995, 1e-9]),
    ({"multipleOf": 0.1}, [0.3, 1.1, 2], [0.35, 5e-324]),
    ({"multipleOf": 1e-300}, [10**300], []),
    ({"multipleOf": 0.5}, [10**400], []),
    ({"multipleOf": 0}, [1], []),
    ({"multipleOf": "1"}, [1], []),
]


@pytest.mark.parametrize(("schema", "fitting", "others"), BOUNDS, ids=lambda each: str(each)[:60])
def test_bound(schema: Any, fitting: list[Any], others: list[Any]) -> None:
    for value in fitting:
        assert SchemaCheck(schema).mismatch(value) is None, value
    for value in others:
        assert SchemaCheck(schema).mismatch(value) is not None, value


def test_the_message_says_what_is_wanted() -> None:
    assert bounds.is_number(1)
    assert str(SchemaCheck({"maxItems": 1}).mismatch([1, 2])) == "the arguments: must have at most 1 items, not 2"
    assert str(SchemaCheck({"minimum": 5}).mismatch(2)) == "the arguments: must be at least 5, not 2"
