"""Where references point: definitions under either word, places in the document, anchors, ids; remote ones nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.schema.references import MAX_TOKENS, References, Target, subschemas

STRING = {"type": "string"}


def found(root: dict[str, Any], ref: str) -> Any:
    target = References(root, "t").find(ref)
    return None if target is None else target.schema


def test_definitions_and_places_are_found() -> None:
    root = {
        "$defs": {"A": STRING, "a/b": {"n": 1}, "p%q": {"n": 2}, "t~": {"n": 3}},
        "properties": {"x": {"anyOf": [{"n": 4}, {"n": 5}]}},
    }
    assert found(root, "#/$defs/A") is STRING
    assert found(root, "#/$defs/a~1b") == {"n": 1}
    assert found(root, "#/$defs/a%2Fb") == {"n": 1}
    assert found(root, "#/$defs/p%25q") == {"n": 2}
    assert found(root, "#/$defs/t~0") == {"n": 3}
    assert found(root, "#/properties/x/anyOf/1") == {"n": 5}
    assert found(root, "#") is root
    for nowhere in ("#/$defs/B", "#/properties/x/anyOf/2", "#/properties/x/anyOf/one", "#/$defs/A/type/x", "#gone"):
        assert found(root, nowhere) is None


def test_the_answer_is_remembered() -> None:
    references = References({"$defs": {"A": STRING}}, "t")
    assert references.find("#/$defs/A") is references.find("#/$defs/A")


@pytest.mark.parametrize("ref", ["https://schemas.example/a.json", "other.json#/x", "Address"])
def test_a_remote_reference_is_refused_with_tool_and_place(ref: str) -> None:
    root = {"properties": {"a/b": {"items": {"$ref": ref}}, "other": {"$ref": "#"}}}
    with pytest.raises(BadRequest) as refused:
        References(root, "fetch_page").find(ref)
    assert "fetch_page" in refused.value.message
    assert refused.value.path == "parameters.properties.a/b.items.$ref"


def test_a_remote_reference_in_a_place_that_nobody_lists() -> None:
    with pytest.raises(BadRequest) as refused:
        References({"unknown": {"$ref": "x.json"}}, "t").find("x.json")
    assert refused.value.path == "parameters"


def test_the_own_id_and_inner_ids_and_anchors_are_local() -> None:
    inner = {"$id": "inner", "$anchor": "here", "type": "string"}
    root = {"$id": "https://x.example/s#", "properties": {"a": inner}, "$defs": {"A": STRING}}
    assert found(root, "https://x.example/s#/$defs/A") is STRING
    assert found(root, "inner") is inner
    assert found(root, "#here") is inner
    references = References(root, "t")
    assert references.find("inner") == references.find("#here")


def test_definitions_of_a_schema_that_was_pasted_in() -> None:
    root = {"properties": {"a": {"$defs": {"Y": STRING}, "$ref": "#/$defs/Y"}}, "$defs": "not a map"}
    references = References(root, "t")
    target = references.find("#/$defs/Y")
    assert target == Target("/properties/a/$defs/Y", STRING)
    assert not references.is_definition(target)
    assert references.keep(target) == "#/$defs/Y"
    assert references.is_definition(target)
    assert references.keep(target) == "#/$defs/Y"
    assert references.definitions() == [("Y", target)]
    assert references.definitions(1) == []


def test_names_of_definitions_are_unique_and_without_signs() -> None:
    root = {"$defs": {"A": STRING, "a/b": {}, "": {}}, "definitions": {"A": {"n": 1}, "a_b": {}}}
    references = References(root, "t")
    assert [name for name, _ in references.definitions()] == ["A", "a_b", "definition", "A_2", "a_b_2"]
    kept = references.find("#/definitions/A")
    assert kept is not None
    assert references.keep(kept) == "#/$defs/A_2"


def test_the_root_is_kept_as_itself() -> None:
    references = References({}, "t")
    assert references.is_definition(Target("", {}))
    assert references.keep(Target("", {})) == "#"


def test_subschemas_know_words_from_names() -> None:
    root = {
        "properties": {"items": {"default": {"properties": {"no": {}}}}, "x~": True},
        "prefixItems": [{"n": 1}],
        "not": {"n": 2},
        "anyOf": "no list",
        "$defs": [],
    }
    assert {key for key, _ in subschemas(root)} == {"", "/properties/items", "/prefixItems/0", "/not"}


def test_subschemas_stop_far_down() -> None:
    root: dict[str, Any] = {}
    for _ in range(2 * MAX_TOKENS):
        root = {"not": root}
    assert len(list(subschemas(root))) == MAX_TOKENS + 1
