from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.arguments import arguments_for


def obj(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or []}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (None, {}),
        ({}, {}),
        ({"type": "string"}, {}),
        (obj(), {}),
        (obj(a={"type": "string"}, b={"type": "string"}), {"a": "a 7"}),
        (obj(["b"], a={"type": "string"}, b={"type": "string"}), {"b": "b 7"}),
        (obj(["gone"], a={"type": "string"}), {"a": "a 7"}),
        (obj(a={"enum": [None, "x"]}), {"a": "x"}),
        (obj(a={"const": 5}), {"a": 5}),
        (obj(a={"type": "integer", "minimum": 10}), {"a": 10}),
        (obj(a={"type": "number", "maximum": 1.5}), {"a": 1.5}),
        (obj(timeout={"type": "integer"}), {"timeout": 10000}),
        (obj(a={"type": "boolean"}), {"a": False}),
        (obj(a={"type": "null"}), {"a": None}),
        (obj(a={"type": ["null", "integer"]}), {"a": 7}),
        (obj(a={"type": "array", "items": {"type": "string"}, "minItems": 2}), {"a": ["a 7", "a 7"]}),
        (obj(a={"items": {"type": "integer"}}), {"a": [7]}),
        (obj(a={"anyOf": [{"type": "null"}, {"type": "integer"}]}), {"a": 7}),
        (obj(a={"properties": {"b": True}}), {"a": {"b": "b 7"}}),
        (obj(command={"type": "string"}), {"command": "echo moongate 7"}),
    ],
)
def test_arguments_fit_the_schema(schema: Any, expected: dict[str, Any]) -> None:
    assert arguments_for(schema, 7) == expected


def test_local_references_are_followed() -> None:
    schema = obj(a={"$ref": "#/$defs/n"}) | {"$defs": {"n": {"type": "integer"}}}
    assert arguments_for(schema, 3) == {"a": 3}
    assert arguments_for(obj(a={"$ref": "#/gone/away"}), 3) == {"a": "a 3"}


def test_recursion_ends() -> None:
    endless = obj(["next"], next={"$ref": "#"})
    assert "next" in arguments_for(endless, 0)
    assert arguments_for(obj(a={"$ref": "#/properties/a"}), 0) == {"a": "a 0"}


def test_awkward_text_goes_into_the_first_string() -> None:
    schema = obj(["n", "s"], n={"type": "integer"}, s={"type": "string"})
    assert arguments_for(schema, 2, awkward='"{n}\n') == {"n": 2, "s": '"2\n'}
    assert arguments_for(obj(n={"type": "integer"}), 2, awkward="x") == {"n": 2}
