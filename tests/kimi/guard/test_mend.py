"""Arguments are mended where there is one obvious way, and only if the result fits."""

from __future__ import annotations

import copy
from time import process_time
from typing import Any

import pytest

from moongate.kimi.guard import mend as module
from moongate.kimi.guard.check import SchemaCheck
from moongate.kimi.guard.mend import mend
from moongate.kimi.guard.tool_schemas import ToolSchema

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
OPEN = {"type": "object", "properties": {"n": INTEGER}}


def closed(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or [], "additionalProperties": False}


# schema, value, what it becomes
MENDED: list[tuple[Any, Any, Any]] = [
    # a number, boolean or null written as text
    (closed(n=INTEGER), {"n": "5"}, {"n": 5}),
    (closed(n={"type": "number"}), {"n": "-1.5e3"}, {"n": -1500.0}),
    (closed(n={"type": ["integer", "null"]}), {"n": "1e300"}, {"n": 1e300}),
    (closed(n=INTEGER), {"n": "12345678901234567890123"}, {"n": 12345678901234567890123}),
    (
        closed(l={"type": "array", "items": INTEGER}),
        {"l": "[98765432109876543210987]"},
        {"l": [98765432109876543210987]},
    ),
    (closed(b={"type": "boolean"}), {"b": "True"}, {"b": True}),
    (closed(b={"type": ["integer", "null"]}), {"b": "null"}, {"b": None}),
    (closed(b={"anyOf": [INTEGER, {"type": "null"}]}), {"b": "7"}, {"b": 7}),
    (closed(b={"oneOf": [INTEGER, {"type": "null"}]}), {"b": "null"}, {"b": None}),
    # text that holds the JSON of an object or list
    (closed(o={"type": "object"}), {"o": '{"a":1}'}, {"o": {"a": 1}}),
    (closed(l={"type": "array", "items": INTEGER}), {"l": '["1",2]'}, {"l": [1, 2]}),
    (closed(n=INTEGER), '{"n":"5"}', {"n": 5}),
    # one value where a list of it is wanted
    (closed(l={"type": "array", "items": TEXT}), {"l": "a"}, {"l": ["a"]}),
    (closed(l={"type": "array", "items": INTEGER}), {"l": "3"}, {"l": [3]}),
    (closed(l={"type": ["array", "null"], "items": closed(n=INTEGER)}), {"l": {"n": "1"}}, {"l": [{"n": 1}]}),
    (closed(l={"type": "array", "prefixItems": [INTEGER], "items": TEXT}), {"l": ["1", "1"]}, {"l": [1, "1"]}),
    (closed(l={"type": "array", "items": [INTEGER], "additionalItems": INTEGER}), {"l": ["1", "2"]}, {"l": [1, 2]}),
    # a property that differs only in case, _ or -
    (closed(filePath=TEXT), {"file_path": "a"}, {"filePath": "a"}),
    (closed(file_path=INTEGER), {"File-Path": "1"}, {"file_path": 1}),
    # other unknown properties
    (closed(a=TEXT), {"a": "x", "b": 1}, {"a": "x"}),
    (closed(a=TEXT), {"a": "x", "A": "y"}, {"a": "x"}),
    ({"properties": {"a": TEXT}, "unevaluatedProperties": False}, {"a": "x", "b": 1}, {"a": "x"}),
    # what another part of the schema declares is not unknown
    ({"allOf": [OPEN], "unevaluatedProperties": False}, {"n": "5", "b": 1}, {"n": 5}),
    ({"allOf": [OPEN], "unevaluatedProperties": False}, {"N": 5}, {"n": 5}),
    ({"$defs": {"a": OPEN}, "$ref": "#/$defs/a", "unevaluatedProperties": False}, {"n": "5"}, {"n": 5}),
    ({"anyOf": [OPEN, {}], "unevaluatedProperties": False}, {"n": 5, "b": 1}, {"n": 5}),
    (
        {"allOf": [{**OPEN, "additionalProperties": True}], "unevaluatedProperties": False},
        {"n": "5", "b": 1},
        {"n": 5, "b": 1},
    ),
    ({"anyOf": [closed(["n"], n=INTEGER), {}], "unevaluatedProperties": False}, {"n": 5, "b": 1}, {"n": 5}),
    # what a pattern declares
    ({**closed(a=TEXT), "patternProperties": {"^n": INTEGER}}, {"a": "x", "n1": "5", "b": 1}, {"a": "x", "n1": 5}),
    (
        {"patternProperties": {"^l": {"type": "array"}}, "additionalProperties": INTEGER},
        {"l": 1, "x": "1"},
        {"l": [1], "x": 1},
    ),
    # an enum value that differs only in case or blanks
    (closed(m={"enum": ["fast", "slow"]}), {"m": " Fast"}, {"m": "fast"}),
    (closed(m={"const": "fast"}), {"m": " Fast"}, {"m": "fast"}),
    (closed(x={"oneOf": [closed(k={"const": each}) for each in "ab"]}), {"x": {"k": "B"}}, {"x": {"k": "b"}}),
    (closed(m={"enum": [1, 2, None]}), {"m": "2"}, {"m": 2}),  # as if the type were named
    (closed(m={"const": True}), {"m": "true"}, {"m": True}),
    # a default for a missing required property
    (closed(["d"], d={"type": "boolean", "default": False}), {}, {"d": False}),
    ({"$defs": {"d": {"default": 1}}, **closed(["d"], d={"$ref": "#/$defs/d"})}, {}, {"d": 1}),
    # inside other schemas
    ({"$defs": {"n": INTEGER}, **closed(n={"$ref": "#/$defs/n"})}, {"n": "5"}, {"n": 5}),
    (closed(n={"allOf": [INTEGER, {"minimum": 3}]}), {"n": "5"}, {"n": 5}),
    ({"type": "object", "additionalProperties": INTEGER}, {"x": "5"}, {"x": 5}),
    (closed(x={"anyOf": [closed(["n"], n=INTEGER), closed(["m"], m=TEXT)]}), {"x": {"n": "5"}}, {"x": {"n": 5}}),
]


@pytest.mark.parametrize(("schema", "value", "wanted"), MENDED, ids=lambda each: str(each)[:50])
def test_mended(schema: Any, value: Any, wanted: Any) -> None:
    before = copy.deepcopy(value)
    found = ToolSchema(schema).mended(value)
    assert found is not None
    assert found.value == wanted
    assert value == before, "changed in place"
    assert SchemaCheck(schema).mismatch(wanted) is None
    assert found.fixes
    assert all(fix.why for fix in found.fixes)
    again = mend(SchemaCheck(schema), found.value)
    assert again == (found.value, ())


A_FILE = closed(["kind", "path"], kind={"const": "file"}, path=TEXT)
AN_ADDRESS = closed(["kind", "url"], kind={"enum": ["url", "link"]}, url=TEXT)
# Of these forms none is meant by all of a value.
LISTS_OR_OBJECT = {"anyOf": [{"type": "array", "items": closed(n=INTEGER)}, closed(["path"], path=INTEGER)]}
ANY_OR_OPEN = {"oneOf": [{"type": "object", "properties": {"tags": TEXT}, "required": ["tags"]}, closed(n=INTEGER)]}
REFERENCES = {"$defs": {"a": A_FILE, "b": AN_ADDRESS}, "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}
MENDED += [
    # a property may be left out that only belongs to a form which another property rules out
    ({"oneOf": [A_FILE, AN_ADDRESS]}, {"kind": "File", "path": "a", "url": ""}, {"kind": "file", "path": "a"}),
    (REFERENCES, {"kind": " LINK", "path": "", "url": "b", "x": 1}, {"kind": "link", "url": "b"}),
    ({"anyOf": [A_FILE, {"type": "null"}]}, {"kind": "file", "path": "a", "x": 1}, {"kind": "file", "path": "a"}),
]


# schema, value
LEFT: list[tuple[Any, Any]] = [
    (closed(n=INTEGER), {"n": "five"}),
    (closed(n=INTEGER), {"n": "1.5"}),
    (closed(n=INTEGER), {"n": True}),
    (closed(s=TEXT), {"s": 5}),  # what text would be meant?
    (closed(["a"], a=TEXT), {}),
    (closed(["a", 7], a=TEXT), {"b": 1}),  # type: ignore[list-item]
    (closed(["d"], d={"type": "integer", "default": "x"}), {}),
    (closed(m={"enum": ["a", "a "]}), {"m": "A"}),
    (closed(m={"enum": [1, 2]}), {"m": "fast"}),
    (closed(x={"anyOf": [{"type": "array", "items": TEXT}, {"type": "boolean"}]}), {"x": 7}),
    (closed(x={"anyOf": [{"enum": ["a"]}, {"enum": ["A "]}]}), {"x": " A"}),  # two ways
    (closed(ab=TEXT), {"a_b": "x", "A-B": "y"}),  # which of the two is meant?
    (closed(ab=TEXT, a_b=TEXT), {"AB": "x"}),
    (closed(l={"type": "array", "items": INTEGER}), {"l": "x"}),
    ({"allOf": [OPEN], "additionalProperties": False}, {"n": 5}),  # the schema allows no `n`, and means to
    ({"allOf": [OPEN, {"patternProperties": {"b": {}}}], "unevaluatedProperties": False}, {"n": "x", "c": 1}),
    (closed(l={"type": "array", "items": TEXT}), {"l": "['a', 'b']"}),  # a list that is no JSON is no item
    (closed(l={"type": "array", "items": TEXT}), {"l": ' ["a"'}),
    (closed(l={"type": "array"}), {"l": None}),  # no value is not one value
    (closed(l={"type": "array"}), {"l": " "}),
    (closed(l={"type": "array"}), {"l": {}}),
    (closed(m={"enum": ["auto", 1]}), {"m": "1"}),
    (closed(m={"enum": [1, 2]}), {"m": "3"}),
    (closed(o={"type": "object"}), {"o": '"text"'}),
    (LISTS_OR_OBJECT, {"path": "x"}),  # `[{}]` would fit
    (ANY_OR_OPEN, {"TAGS": "x"}),  # `{}` would fit
    ({"anyOf": [closed(["a"], a=TEXT), closed(["b"], b=TEXT)]}, {"a": "x", "b": "y"}),
    (REFERENCES, {"path": "a", "url": "b"}),
    ({**closed(a=TEXT), "patternProperties": {"(?=n)": INTEGER}}, {"a": 1, "b": 1}),
    (closed(p={"type": "string", "pattern": "^a"}), {"p": "b"}),
    ({"not": {}}, {}),
    ({"type": "object", "properties": [], "required": "x", "maxProperties": 0}, {"a": 1}),
    ({"allOf": 7, "type": "string"}, []),
]


@pytest.mark.parametrize(("schema", "value"), LEFT, ids=lambda each: str(each)[:50])
def test_left_as_it_is(schema: Any, value: Any) -> None:
    assert ToolSchema(schema).mended(value) is None


def test_an_integer_is_written_as_one() -> None:
    found = ToolSchema(closed(n=INTEGER, m={"type": "number"})).mended({"n": "5.0", "m": "5.0"})
    assert found is not None
    assert repr(found.value) == "{'n': 5, 'm': 5.0}"


def test_what_fits_is_not_touched() -> None:
    value = {"l": [1], "o": {}}
    found = mend(SchemaCheck(closed(l={}, o={})), value)
    assert found is not None
    assert found.value is value
    assert not found.fixes


def test_what_would_take_too_long_is_not_mended() -> None:
    schema = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}
    assert mend(SchemaCheck(schema), 1) is None


def test_time_is_linear_in_names() -> None:
    def seconds(size: int) -> float:
        schema = closed(None, **{f"declared_{at}": TEXT for at in range(size)})
        value = {**{f"Declared-{at}": "x" for at in range(size)}, **{f"other{at}": 1 for at in range(size)}}
        tool, start = ToolSchema(schema), process_time()
        found = tool.mended(value)
        assert found is not None
        assert len(found.value) == size  # type: ignore[arg-type]
        return process_time() - start

    assert min(seconds(4_000) for _ in range(3)) < 40 * min(seconds(400) for _ in range(3))


@pytest.mark.parametrize("value", ["a", 1, {"a": 1}, [1], [[["x"]]]])
def test_a_list_of_itself_ends(value: Any) -> None:
    """Each value could be put into a list once more, and would never fit."""
    lists = {"type": "array", "items": {"$ref": "#/$defs/lists"}}
    schema = {"$defs": {"lists": lists}, **closed(l={"$ref": "#/$defs/lists"})}
    assert ToolSchema(schema).mended({"l": value}) is None
    assert ToolSchema({"allOf": [{"$ref": "#"}], "type": "array"}).mended(value) is None


def test_the_table_of_ways() -> None:
    assert len(module.WAYS) == 3
