"""Words with values that the flavour does not take."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.mending import (
    enum_types,
    fitting_values,
    mended,
    with_known_required,
    without,
    without_integer,
)
from moongate.kimi.schema.words import MAX_ENUM_ITEMS


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "title": "t", "description": "", "minLength": 1, "maxLength": 1, "enum": ["a"]},
        {"type": "number", "enum": [1, 1.5], "minimum": -3.5},
        {"type": "integer", "enum": [1, 2.0]},
        {"type": "boolean", "enum": [True]},
        {"type": "array", "maxItems": 0},
        {"type": "null"},
    ],
)
def test_good_words_stay(schema: dict[str, Any]) -> None:
    assert mended(schema, schema["type"]) is schema


def test_texts_that_are_none() -> None:
    assert mended({"title": 1, "description": None, "default": None}) == {"default": None}


def test_bounds_that_are_none_or_contradict_each_other() -> None:
    assert mended({"minLength": -1, "maxLength": "x"}, "string") == {}
    assert mended({"minimum": 3, "maximum": 2, "title": "t"}, "number") == {"title": "t"}
    assert mended({"minItems": 1.5, "maxItems": 2}, "array") == {"maxItems": 2}


def test_enums() -> None:
    assert mended({"enum": ["a", None, 1]}, "string") == {"enum": ["a"]}
    assert mended({"enum": [None]}, "string") == mended({"enum": "a"}, "string") == {}
    assert mended({"enum": [str(n) for n in range(MAX_ENUM_ITEMS + 1)]}, "string") == {}
    assert mended({"enum": []}, "boolean") == {}


def test_required() -> None:
    good = {"properties": {"a": {}}, "required": ["a"]}
    assert with_known_required(good) is good
    empty: dict[str, Any] = {"required": []}
    assert with_known_required(empty) is empty
    assert with_known_required({**good, "required": ["a", "b", "a", 3, []]}) == good
    assert with_known_required({"required": ["a"]}) == {}
    assert with_known_required({"required": True}) == {}


def test_types_of_values() -> None:
    assert enum_types(["a", None, 1, 2.5]) == ["string", "number"]
    assert enum_types([None]) == ["null"]
    assert enum_types("x") == enum_types([]) == []
    assert fitting_values([1, "a"], "string") == ["a"]
    assert fitting_values(None, "string") == []
    assert without_integer(["integer", "string"]) == ["integer", "string"]


def test_without() -> None:
    assert without({"a": 1, "b": 2, "c": 3}, "a", "c") == {"b": 2}
