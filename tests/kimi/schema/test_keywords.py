from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.keywords import SEVEN_TYPES, anything, enum_value_size, has_type, is_number, type_of


@pytest.mark.parametrize(
    ("value", "name"),
    [
        *(("x", "string"), (True, "boolean"), (1, "integer"), (1.5, "number"), (None, "null")),
        *(({}, "object"), ([], "array")),
    ],
)
def test_the_type_of_a_value(value: Any, name: str) -> None:
    assert type_of(value) == name
    assert has_type(value, name)


def test_types_are_counted_as_json_schema_counts() -> None:
    assert has_type(1, "number")
    assert has_type(1.0, "integer")
    assert not has_type(1.5, "integer")
    assert not has_type(True, "integer")
    assert not has_type("1", "number")


def test_booleans_are_no_numbers() -> None:
    assert [is_number(value) for value in (1, 1.5, True, "1", None)] == [True, True, False, False, False]


def test_anything_takes_every_type_and_is_new_each_time() -> None:
    assert [branch["type"] for branch in anything()["anyOf"]] == list(SEVEN_TYPES)
    assert anything() is not anything()


def test_the_size_of_a_value_of_an_enum_is_in_bytes() -> None:
    assert [enum_value_size(value) for value in ("abc", "名", "\ud800", 12, 1.5, None)] == [3, 3, 3, 2, 3, 4]
