"""The keywords of JSON Schema: each with values that fit and values that do not."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.guard import bounds, evaluated, patterns
from moongate.kimi.guard.check import SchemaCheck
from moongate.kimi.guard.keywords import shown

assert bounds
assert evaluated
assert patterns  # they declare keywords too

A_IS_TEXT = {"properties": {"a": {"type": "string"}}}
A_IS_ANY: Any = {"properties": {"a": {}}}
B_IS_TEXT = {"properties": {"b": {"type": "string"}}}
UNCHECKED = {"pattern": "(?=a)"}  # look-around takes more than linear time

# schema, values that fit, values that do not
KEYWORDS: list[tuple[Any, list[Any], list[Any]]] = [
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, [None], [1]),
    ({"type": ["string", "null"]}, ["a", None], [1, []]),
    ({"type": ["string"] * 20 + ["null"]}, ["a", None], [1]),
    ({"enum": ["a", 1, None, [1], {"a": 1.0}]}, ["a", 1.0, None, [1.0], {"a": 1}], ["b", True, 2, [2], {}]),
    ({"enum": "a"}, [1], []),
    ({"const": 1}, [1, 1.0], [True, "1"]),
    ({"required": ["a", 7]}, [{"a": 1}, []], [{}]),
    ({"required": "a"}, [{}], []),
    ({"properties": {"a": {"type": "string"}}}, [{"a": "x", "b": 1}, 1], [{"a": 1}]),
    ({"properties": []}, [{"a": 1}], []),
    ({"properties": {"a": {}}, "additionalProperties": False}, [{"a": 1}], [{"b": 1}]),
    ({"additionalProperties": {"type": "string"}}, [{"a": "x"}], [{"a": 1}]),
    ({"additionalProperties": True}, [{"a": 1}], []),
    ({"patternProperties": {"^x": {}}, "additionalProperties": False}, [{"x1": 1}], [{"b": 1}]),
    ({"patternProperties": {"(?!a)": {}}, "additionalProperties": False}, [{"b": 1}], []),
    ({"properties": {"a": {}}, "unevaluatedProperties": False}, [{"a": 1}], [{"b": 1}]),
    ({"unevaluatedProperties": False, "allOf": [{}]}, [{}], [{"b": 1}]),
    ({"unevaluatedProperties": False, "allOf": [{"properties": {"a": {}}}]}, [{"a": 1}], [{"a": 1, "b": 1}]),
    ({"unevaluatedProperties": {"type": "string"}, "properties": {"a": {}}}, [{"a": 1, "b": ""}], [{"a": 1, "b": 1}]),
    ({"unevaluatedProperties": False, "anyOf": [A_IS_TEXT, B_IS_TEXT]}, [{"a": ""}, {"b": ""}], [{"a": "", "b": 1}]),
    ({"unevaluatedProperties": False, "$ref": "#/$defs/a", "$defs": {"a": A_IS_TEXT}}, [{"a": ""}], [{"b": ""}]),
    ({"unevaluatedProperties": False, "if": A_IS_TEXT, "then": B_IS_TEXT}, [{"a": "", "b": ""}], [{"a": 1}]),
    ({"unevaluatedProperties": False, "if": A_IS_TEXT, "else": A_IS_ANY}, [{"a": 1}], [{"b": 1}]),
    ({"unevaluatedProperties": False, "dependentSchemas": {"a": A_IS_ANY}}, [{"a": 1}], [{"b": 1}]),
    ({"unevaluatedProperties": False, "allOf": [{"additionalProperties": True}]}, [{"b": 1}], []),
    ({"unevaluatedProperties": False, "allOf": [{"patternProperties": {"b": {}}}]}, [{"b": 1}], []),
    ({"unevaluatedProperties": "no", "allOf": [True]}, [{"b": 1}], []),
    ({"unevaluatedProperties": False, "additionalProperties": {}}, [{"b": 1}], []),
    ({"propertyNames": {"enum": ["a"]}}, [{"a": 1}], [{"b": 1}]),
    ({"dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 1}, {"c": 1}], [{"a": 1}]),
    ({"dependentRequired": []}, [{"a": 1}], []),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"a": 1, "b": 1}, {}], [{"a": 1}]),
    ({"dependentSchemas": []}, [{"a": 1}], []),
    ({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}, [{"a": 1, "b": 1}, {}], [{"a": 1}, {"c": 1}]),
    ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, [2], [1, "a"]),
    ({"allOf": {}}, [1], []),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, [1, None], ["a"]),
    ({"anyOf": [{"type": "integer"}]}, [1], ["a"]),
    ({"anyOf": []}, [1], []),
    ({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, [1, 5.5], [7, 1.5]),
    ({"oneOf": []}, [1], []),
    ({"not": {"type": "string"}}, [1], ["a"]),
    ({"not": 7}, [1], []),
    # what cannot be checked may fit, and may not
    ({"not": UNCHECKED}, ["a"], []),
    ({"not": {"not": UNCHECKED}}, ["a"], []),
    ({"not": {"$ref": "https://example.com/a"}}, ["a"], []),
    ({"not": {"anyOf": [{"type": "string"}, UNCHECKED]}}, [], ["a"]),
    ({"not": {"anyOf": [{"allOf": [UNCHECKED, {"maxLength": 0}]}, {"minLength": 1}]}}, [], ["a"]),
    ({"not": {"allOf": [UNCHECKED, {"maxLength": 0}]}}, ["a"], []),
    ({"oneOf": [UNCHECKED, UNCHECKED]}, ["a"], []),
    ({"oneOf": [UNCHECKED, {"type": "string"}, {"minLength": 1}]}, [], ["a"]),
    ({"oneOf": [{"allOf": [UNCHECKED, {"type": "null"}]}, {"type": "integer"}]}, [1], ["a"]),
    ({"if": UNCHECKED, "then": {"maxLength": 1}, "else": {"maxLength": 2}}, ["a", "ab"], ["abc"]),
    ({"if": UNCHECKED, "then": {"maxLength": 1}}, ["a", "ab"], []),
    ({"contains": UNCHECKED, "maxContains": 1}, [["a", "b"]], [[]]),
    ({"contains": UNCHECKED, "minContains": 2}, [["a", "b"]], [["a"]]),
    ({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"minimum": 2}}, ["ab", 2], ["a", 1]),
    ({"if": {"type": "string"}}, ["a", 1], []),
    ({"items": {"type": "integer"}}, [[1], []], [["a"]]),
    ({"items": [{"type": "integer"}], "additionalItems": False}, [[1], []], [["a"], [1, 2]]),
    ({"items": {}, "additionalItems": False}, [[1]], []),
    ({"items": [{}], "additionalItems": {"type": "string"}}, [[1, "a", "b"]], [[1, "a", 2]]),
    ({"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}, [[1, "a"]], [["a"], [1, 2]]),
    ({"prefixItems": {}}, [[1]], []),
    ({"contains": {"type": "integer"}}, [["a", 1]], [["a"], []]),
    ({"contains": {"type": "integer"}, "minContains": 0, "maxContains": 1}, [[], [1]], [[1, 2]]),
]


@pytest.mark.parametrize(("schema", "fitting", "others"), KEYWORDS, ids=lambda each: str(each)[:60])
def test_keyword(schema: Any, fitting: list[Any], others: list[Any]) -> None:
    for value in fitting:
        assert SchemaCheck(schema).mismatch(value) is None, value
    for value in others:
        assert SchemaCheck(schema).mismatch(value) is not None, value


def test_values_in_messages_are_short() -> None:
    assert shown("a" * 10) == '"aaaaaaaaaa"'
    assert len(shown("a" * 1000)) == 81
