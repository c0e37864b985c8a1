"""Types of values, and which values may bound something."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.words import SIX_TYPES, anything, has_type, is_bound, type_of


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("x", "string"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "number"),
        (None, "null"),
        ({}, "object"),
        ([], "array"),
    ],
)
def test_type_of(value: Any, name: str) -> None:
    assert type_of(value) == name
    assert has_type(value, name)


def test_numbers_and_integers_overlap() -> None:
    assert has_type(1, "number")
    assert has_type(1.0, "integer")
    assert not has_type(1.5, "integer")
    assert not has_type(True, "integer")
    assert not has_type("1", "number")


def test_bounds() -> None:
    assert is_bound("minimum", -1.5)
    assert is_bound("maxLength", 3)
    assert is_bound("maxLength", 3.0)
    for value in (-1, 1.5, True, "3", None):
        assert not is_bound("minItems", value)
    assert not is_bound("minimum", True)


def test_anything_is_new_each_time() -> None:
    assert anything() == {"anyOf": [{"type": name} for name in SIX_TYPES]}
    assert anything()["anyOf"] is not anything()["anyOf"]
