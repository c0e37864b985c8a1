"""Which properties and items a schema speaks of."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.guard import bounds, keywords, patterns
from moongate.kimi.guard.check import SchemaCheck
from moongate.kimi.guard.evaluated import evaluated

assert bounds
assert keywords
assert patterns  # they declare the keywords

A: Any = {"properties": {"a": {}}}
REMOTE = {"$ref": "https://example.com/a"}
TEXTS = {"prefixItems": [{"type": "string"}]}
CLOSED = {"unevaluatedItems": False}

# schema, values that fit, values that do not
OPEN_AND_CLOSED: list[tuple[Any, list[Any], list[Any]]] = [
    ({"unevaluatedProperties": {"type": "null"}}, [{"a": None, "b": None}], [{"a": None, "b": 1}]),
    ({"unevaluatedProperties": False, **REMOTE}, [{"b": 1}], []),
    ({"unevaluatedProperties": False, "allOf": [{"patternProperties": {"^b": {}}}]}, [{"b1": 1}], [{"c": 1}]),
    ({"unevaluatedProperties": False, "patternProperties": {"(?!b)": {}}}, [{"b": 1}], []),
    ({"unevaluatedProperties": False, "if": {"properties": {"a": {"pattern": "(?=x)"}}}, "else": A}, [{"a": "x"}], []),
    ({**CLOSED, **TEXTS}, [["a"], []], [["a", 1], [1]]),
    ({"unevaluatedItems": {"type": "integer"}, **TEXTS}, [["a", 1]], [["a", "b"]]),
    ({**CLOSED, "items": {}}, [[1]], []),
    ({**CLOSED, "items": [{}]}, [[1]], [[1, 2]]),
    ({**CLOSED, "items": [{}], "additionalItems": {}}, [[1, 2]], []),
    ({**CLOSED, "contains": {"type": "string"}}, [["a", "b"]], [["a", 1]]),
    ({**CLOSED, "allOf": [TEXTS, True]}, [["a"]], [["a", 1]]),
    ({**CLOSED, "anyOf": [TEXTS, {"prefixItems": [{}, {}]}]}, [["a", 1], [1, 2]], [["a", 1, 2]]),
    ({**CLOSED, "allOf": [{"items": {}}]}, [[1, 2]], []),
    ({**CLOSED, "allOf": [{"unevaluatedItems": {}}]}, [[1, 2]], []),
    ({**CLOSED, "dependentSchemas": {"a": {"items": {}}}}, [[]], [["a"]]),
    ({**CLOSED, **REMOTE}, [[1]], []),
    ({"unevaluatedItems": "no"}, [[1]], []),
]


@pytest.mark.parametrize(("schema", "fitting", "others"), OPEN_AND_CLOSED, ids=lambda each: str(each)[:60])
def test_what_nothing_speaks_of_is_refused(schema: Any, fitting: list[Any], others: list[Any]) -> None:
    for value in fitting:
        assert SchemaCheck(schema).mismatch(value) is None, value
    for value in others:
        assert SchemaCheck(schema).mismatch(value) is not None, value


def test_the_names_of_all_parts() -> None:
    schema = {
        "anyOf": [A, {"properties": {"b": {"type": "null"}}}],
        "dependentSchemas": {"x": {"properties": {"c": {}}}},
    }
    check = SchemaCheck(schema)
    assert evaluated(check, schema, {"b": 1}) == {"a"}
    assert evaluated(check, schema, {"b": 1}, anyway=True) == {"a", "b", "c"}
    assert evaluated(check, {"allOf": [{**A, "additionalProperties": {}}]}, {}) is None
    assert evaluated(check, {"allOf": [{**A, "additionalProperties": False}]}, {}, anyway=True) == {"a"}
    assert evaluated(check, {"allOf": [{"allOf": [{"unevaluatedProperties": True}]}]}, {}) is None
