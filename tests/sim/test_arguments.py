from __future__ import annotations

from typing import Any

import pytest
from tests.support.json_schema import misfit

from moongate.sim.arguments import MAX_ITEMS, arguments_for, instance_of


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


ENDLESS = {"$ref": "#/$defs/endless"}


@pytest.mark.parametrize("way_out", [{"type": "null"}, obj(["b"], b={"type": "string"}), ENDLESS])
@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_a_branch_that_cannot_end_is_not_taken(word: str, way_out: dict[str, Any]) -> None:
    union = {word: [ENDLESS, {"type": "array", "items": ENDLESS, "minItems": 1}, {"anyOf": [ENDLESS]}, way_out]}
    deep = obj(["v"], v=union)
    for _ in range(6):
        deep = obj(["v"], v=deep)
    for value in (union, deep):
        schema = {**obj(["v"], v=value), "$defs": {"endless": obj(["me"], me=ENDLESS)}}
        fits = misfit(schema, arguments_for(schema, 1)) is None
        assert fits == (way_out is not ENDLESS)


@pytest.mark.parametrize("wanted", [[], ["list"]])
def test_what_cannot_end_is_left_out_where_nothing_requires_it(wanted: list[str]) -> None:
    node = obj(["next"], next={"$ref": "#/$defs/node"})
    items = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    schema = {**obj(wanted, node={"$ref": "#/$defs/node"}, list=items), "$defs": {"node": node}}
    assert misfit(schema, arguments_for(schema, 7)) is None
    assert arguments_for(schema, 7) == {"list": []}


def test_the_search_for_an_end_is_bounded() -> None:
    levels = {f"d{at}": obj(["l", "r"], **{way: {"$ref": f"#/$defs/d{at + 1}"} for way in "lr"}) for at in range(30)}
    schema = {**obj(["v"], v={"anyOf": [{"$ref": "#/$defs/d0"}, {"type": "null"}]}), "$defs": levels}
    assert arguments_for(schema, 1)["v"]["l"]


def test_recursion_ends() -> None:
    endless = obj(["next"], next={"$ref": "#"})
    assert "next" in arguments_for(endless, 0)
    assert arguments_for(obj(a={"$ref": "#/properties/a"}), 0) == {"a": "a 0"}


def test_awkward_text_goes_into_the_first_string() -> None:
    schema = obj(["n", "s"], n={"type": "integer"}, s={"type": "string"})
    assert arguments_for(schema, 2, awkward='"{n}\n') == {"n": 2, "s": '"2\n'}
    assert arguments_for(obj(n={"type": "integer"}), 2, awkward="x") == {"n": 2}


NODE = {
    "type": "object",
    "properties": {"label": {"type": "string"}, "next": {"$ref": "#/$defs/n"}},
    "required": ["label"],
}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/n", "$defs": {"n": NODE}},
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
        {"type": "array", "items": {"$ref": "#"}},
        {
            "type": "object",
            "properties": {"left": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
            "required": ["left"],
        },
        {
            "type": "object",
            "properties": {"left": {"anyOf": [{"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}]}},
            "required": ["left"],
        },
        {"type": "object", "properties": {"a": {"type": ["object", "null"], "properties": {"b": {"$ref": "#"}}}}},
        {"anyOf": [{"type": "null"}]},
        {
            "type": "object",
            "properties": {"left": {"anyOf": [{"anyOf": [{"$ref": "#"}]}, {"type": "string"}, {"type": "null"}]}},
            "required": ["left"],
        },
        {
            "type": "object",
            "properties": {
                "left": {"anyOf": [{"type": "array", "items": {"$ref": "#"}, "minItems": 1}, {"enum": [1]}]}
            },
            "required": ["left"],
        },
        {"oneOf": [{"type": "integer", "minimum": 100}, {"type": "string"}]},
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"required": ["a"]},
            ]
        },
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 1},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"type": "integer"}, "maxItems": 0},
        {"type": "object", "properties": {"a~b/c": {"type": "integer"}}, "required": ["a~b/c"]},
    ],
)
def test_instances_fit_their_schemas(schema: dict[str, Any]) -> None:
    assert misfit(schema, instance_of(schema, 3)) is None


def test_instances_are_bounded() -> None:
    assert len(arguments_for(obj(a={"type": "array", "minItems": 10**9}), 0)["a"]) == MAX_ITEMS
    wide: dict[str, Any] = {"type": "string"}
    for _ in range(20):
        wide = obj(["a", "b", "c"], a=wide, b=wide, c=wide)
    assert len(str(arguments_for(wide, 0))) < 2_000_000
