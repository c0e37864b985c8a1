from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.bounded_values import MAX_LENGTH, number_for, string_for, type_of


@pytest.mark.parametrize(
    ("schema", "whole", "expected"),
    [
        ({}, True, 3),
        ({"minimum": 5}, True, 5),
        ({"minimum": 4.5}, True, 5),
        ({"maximum": 1.5}, True, 1),
        ({"maximum": 1.5}, False, 1.5),
        ({"exclusiveMinimum": 3}, True, 4),
        ({"exclusiveMinimum": 3, "exclusiveMaximum": 4}, False, 3.5),
        ({"exclusiveMaximum": 2}, True, 1),
        ({"minimum": 3.2, "exclusiveMaximum": 3.4}, False, 3.2),
        ({"multipleOf": 5}, True, 5),
        ({"minimum": True, "maximum": "x"}, True, 3),
        ({"minimum": float("inf"), "maximum": -1e305}, True, 3),
    ],
)
def test_numbers_are_within_their_bounds(schema: dict[str, Any], whole: bool, expected: float) -> None:
    assert number_for(schema, "a", 3, whole=whole) == expected


def test_known_keys_have_values_of_their_own() -> None:
    assert number_for({}, "timeout", 3, whole=True) == 10000
    assert string_for({}, "command", 3) == "echo moongate 3"


def test_texts_are_within_their_bounds() -> None:
    assert string_for({}, "a", 3) == "a 3"
    assert string_for({"minLength": 6}, "a", 3) == "a 3xxx"
    assert string_for({"maxLength": 2}, "a", 3) == "a "
    assert string_for({"minLength": 10**9}, "a", 3) == "a 3".ljust(MAX_LENGTH, "x")
    assert string_for({"minLength": -1, "maxLength": "x"}, "a", 3) == "a 3"
    assert string_for({"pattern": "^[0-9]{3}$"}, "a", 3) == "000"
    assert string_for({"pattern": "^[0-9]{3}$", "maxLength": 2}, "a", 3) == "a "
    assert string_for({"pattern": 7}, "a", 3) == "a 3"


@pytest.mark.parametrize(
    ("schema", "shortest", "expected"),
    [
        ({"type": "array"}, False, "array"),
        ({"type": ["null", "integer"]}, False, "integer"),
        ({"type": ["null", "integer"]}, True, "null"),
        ({"type": ["null"]}, False, "null"),
        ({"properties": {}}, False, "object"),
        ({"prefixItems": []}, False, "array"),
        ({"minimum": 1}, False, "number"),
        ({}, False, "string"),
    ],
)
def test_the_type_to_generate(schema: dict[str, Any], shortest: bool, expected: str) -> None:
    assert type_of(schema, shortest=shortest) == expected
