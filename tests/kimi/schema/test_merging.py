"""Schemas that hold together, and schemas of which one holds."""

from __future__ import annotations

from typing import Any

from moongate.kimi.schema.merging import common_types, crossed, either, plain, together, types_of

A, B, C = {"title": "A"}, {"title": "B"}, {"title": "C"}


def test_plain_keeps_the_words_of_the_flavour() -> None:
    assert plain({"type": "string", "format": "uri", "$ref": "#", "allOf": [], "minLength": 1}) == {
        "type": "string",
        "minLength": 1,
    }


def test_a_const_is_an_enum_of_one() -> None:
    assert plain({"const": None, "enum": [1]}) == {"enum": [None]}


def test_an_enum_that_is_none_is_left_out() -> None:
    assert plain({"enum": []}) == plain({"enum": "x"}) == {}


def test_tuples_become_one_union() -> None:
    assert plain({"items": [A, B]}) == {"items": {"anyOf": [A, B]}}
    assert plain({"prefixItems": [A], "items": B}) == {"items": {"anyOf": [A, B]}}
    assert plain({"prefixItems": [A], "items": False}) == {"items": {"anyOf": [A]}}
    assert plain({"items": [A], "additionalItems": B}) == {"items": {"anyOf": [A, B]}}
    assert plain({"items": [A], "additionalItems": True}) == {"items": {"anyOf": [A]}}
    assert plain({"items": []}) == plain({"prefixItems": "x"}) == {}


def test_patterns_open_a_closed_object() -> None:
    def others(schema: dict[str, Any]) -> Any:
        return plain(schema).get("additionalProperties", "open")

    assert others({"patternProperties": {"^a": A}, "additionalProperties": False}) == A
    assert others({"patternProperties": {"^a": A, "^b": B}, "additionalProperties": False}) == {"anyOf": [A, B]}
    assert others({"patternProperties": {"^a": A}, "additionalProperties": B}) == {"anyOf": [B, A]}
    assert others({"patternProperties": {}, "additionalProperties": False}) is False
    assert others({"patternProperties": {"^a": A}}) == "open"
    assert others({"patternProperties": {"^a": A}, "additionalProperties": {}}) == {}
    assert others({"patternProperties": 3, "additionalProperties": False}) is False


def test_unions_of_either_spelling() -> None:
    assert plain({"oneOf": [A, B]}) == {"anyOf": [A, B]}
    assert plain({"oneOf": [A], "anyOf": [B]}) == {"anyOf": [{"allOf": [B, A]}]}
    assert plain({"oneOf": [], "anyOf": None}) == {}


def test_too_many_unions_are_not_multiplied_out() -> None:
    wide = [{"n": number} for number in range(9)]
    assert crossed([wide, wide]) == wide
    assert len(crossed([[A, B]] * 9)) == 16


def test_words_that_hold_together() -> None:
    first = {"title": "first", "type": ["number", "string"], "minimum": 1, "maxLength": 9, "required": ["a"]}
    second = {"title": "second", "type": "integer", "minimum": 2, "maxLength": 4, "required": ["b"], "default": 3}
    assert together([first, second]) == {
        "title": "first",
        "type": ["integer"],
        "minimum": 2,
        "maxLength": 4,
        "required": ["a", "b"],
        "default": 3,
    }
    assert together([first]) is first
    assert together([]) == {}


def test_what_meets_further_in_is_left_for_later() -> None:
    assert together([{"properties": {"x": A, "y": B}}, {"properties": {"x": C}}, {"properties": None}]) == {
        "properties": {"x": {"allOf": [A, C]}, "y": B}
    }
    assert together([{"items": A}, {"items": B}]) == {"items": {"allOf": [A, B]}}
    assert together([{"additionalProperties": A}, {"additionalProperties": B}]) == {
        "additionalProperties": {"allOf": [A, B]}
    }
    assert together([{"additionalProperties": A}, {"additionalProperties": False}]) == {"additionalProperties": False}
    assert together([{"anyOf": [A]}, {"anyOf": [B, C]}]) == {"anyOf": [{"allOf": [A, B]}, {"allOf": [A, C]}]}


def test_values_that_hold_together() -> None:
    assert together([{"enum": [1, 2, True]}, {"enum": [1.0, True]}]) == {"enum": [1, True]}
    assert together([{"enum": [1]}, {"enum": [2]}, {"enum": [1]}]) == {"enum": [1]}
    assert together([{"required": 3}, {"required": ["a"]}]) == {"required": ["a"]}
    assert together([{"minimum": "x"}, {"minimum": None}]) == {"minimum": None}


def test_types() -> None:
    assert types_of("STRING") == ["string"]
    assert types_of(["string", 5, "any", "string", "null"]) == ["string", "null"]
    assert types_of("any") == types_of(None) == []
    assert common_types(["string", "number"]) == ["string"]
    assert common_types(["any", "number", "any", "integer"]) == ["integer"]
    assert common_types(["integer", ["number", "null"]]) == ["integer"]
    assert common_types([["integer", "null"], ["null", "string"]]) == ["null"]


def test_either_of_two_objects() -> None:
    merged = either(
        {"anyOf": [], "properties": {"k": A, "o": A}, "required": ["o", 5]},
        [
            {"properties": {"k": B, "x": B, "y": B, "o": C}, "required": ["k", "x"], "additionalProperties": False},
            {"properties": {"k": C, "x": C, "y": B}, "required": ["k", "y"], "additionalProperties": False},
        ],
    )
    assert merged == {
        "properties": {"k": {"allOf": [A, {"anyOf": [B, C]}]}, "o": A, "x": {"anyOf": [B, C]}, "y": B},
        "required": ["o", "k"],
        "additionalProperties": False,
    }


def test_either_stays_open_where_one_is() -> None:
    assert either({}, [{"properties": 3}, {"additionalProperties": False}]) == {"properties": {}, "required": []}
    assert either({"additionalProperties": False}, [{}])["additionalProperties"] is False
    assert "additionalProperties" not in either({}, [{}, {}])
