"""What would be lost if a value were read as another form of a union."""

from __future__ import annotations

from typing import Any

from moongate.kimi.guard import bounds, keywords, patterns
from moongate.kimi.guard.check import SchemaCheck
from moongate.kimi.guard.unions import declared_by_others

assert bounds
assert keywords
assert patterns  # they declare the keywords

A: Any = {"properties": {"kind": {"const": "a"}, "file_path": {}}}
B: Any = {"properties": {"kind": {"enum": ["b", "c"]}, "url": {}}}


def names(others: list[Any], value: Any, root: Any = None) -> set[str]:
    return declared_by_others(SchemaCheck(root or {}), others, value)


def test_properties_of_the_other_forms() -> None:
    assert names([A, B, True], {}) == {"kind", "filepath", "url"}
    assert names([A, B], "text") == {"kind", "filepath", "url"}
    assert names([{"properties": 7}, {"additionalProperties": True}], {"a": 1}) == set()


def test_a_form_that_a_property_rules_out() -> None:
    assert names([A, B], {"kind": "a"}) == {"kind", "filepath"}
    assert names([A, B], {"kind": " C"}) == {"kind", "url"}
    assert names([A, B], {"kind": 7}) == set()
    assert names([{"properties": {"kind": {"enum": 7}}}], {"kind": "a"}) == {"kind"}


def test_forms_by_reference() -> None:
    root = {"$defs": {"a": A}}
    assert names([{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], {"kind": "a"}, root) == {"kind", "filepath"}
