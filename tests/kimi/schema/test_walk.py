"""Schemas of values, one clause of section 10 after the other, wherever the value stands."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.conjuncts import Conjuncts
from moongate.kimi.schema.references import References, Target
from moongate.kimi.schema.walk import MAX_LEVELS, Walk
from moongate.kimi.schema.words import MAX_BRANCHES, MAX_DEPTH, anything

STRING = {"type": "string"}
NULL = {"type": "null"}
ANY = anything()


def walk(definitions: dict[str, Any] | None = None, *, copying: bool = True, **root: Any) -> Walk:
    references = References({**root, "$defs": definitions or {}}, "t")
    return Walk(references, Conjuncts(references, copying=copying), MAX_DEPTH)


def sent(schema: Any, definitions: dict[str, Any] | None = None, **root: Any) -> Any:
    return walk(definitions, **root).value(schema, 1, 1)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "description": "d"},
        {"type": "string", "title": "t", "default": 3, "minLength": 1},
        {"type": "array"},
        {"type": "array", "items": STRING, "minItems": 1},
        {"type": "object"},
        {"type": "object", "properties": {"required": STRING, "type": NULL}, "required": ["type", "required"]},
        {"type": "object", "properties": {"a": {"type": "string", "description": "d"}}},
        {"type": "object", "additionalProperties": {}},
        {"type": "object", "additionalProperties": False},
        {"type": "object", "additionalProperties": {"type": "array", "items": STRING}},
        {"anyOf": [STRING, {"type": "integer"}], "description": "d", "default": None},
    ],
)
def test_what_is_good_stays_the_same_object(schema: dict[str, Any]) -> None:
    assert sent(schema) is schema


@pytest.mark.parametrize("schema", [True, {}, None, 7, "x", [], {"not": {}}, {"anyOf": []}, {"anyOf": 3}])
def test_what_says_nothing_takes_anything(schema: Any) -> None:
    assert sent(schema) == ANY


def test_words_of_other_types_and_other_languages_go() -> None:
    assert sent({"type": "string", "format": "uri", "minimum": 3, "items": {}}) == STRING
    assert sent({"type": "number", "exclusiveMinimum": 0, "minimum": 1}) == {"type": "number", "minimum": 1}
    assert sent({"type": "STRING"}) == STRING


def test_missing_types() -> None:
    assert sent({"properties": {"a": {}}}) == {"type": "object", "properties": {"a": ANY}}
    assert sent({"items": STRING, "minItems": 1}) == {"type": "array", "items": STRING, "minItems": 1}
    assert sent({"enum": [1, 2]}) == {"type": "integer", "enum": [1, 2]}
    assert sent({"enum": [1, 2.5]}) == {"type": "number", "enum": [1, 2.5]}
    assert sent({"enum": ["a", None]}) == {"type": "string", "enum": ["a"]}
    assert sent({"enum": [None]}) == NULL
    assert sent({"enum": ["a", 1]}) == {
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}],
    }
    assert sent({"properties": {}, "items": STRING}) == {
        "anyOf": [{"type": "object", "properties": {}}, {"type": "array", "items": STRING}]
    }
    assert sent({"minLength": 2, "title": "t"})["anyOf"][0] == {"type": "string", "minLength": 2}


def test_lists_of_types() -> None:
    assert sent({"type": ["string", "null"], "default": None}) == {"default": None, "anyOf": [STRING, NULL]}
    assert sent({"type": ["string"]}) == STRING
    assert sent({"type": []}) == ANY
    assert sent({"type": ["string", "null"], "enum": ["a"]}) == {"anyOf": [{"type": "string", "enum": ["a"]}, NULL]}
    assert sent({"type": ["string", "integer"], "enum": ["a"]}) == {"anyOf": [{"type": "string", "enum": ["a"]}]}
    assert sent({"type": ["string", "integer"], "enum": [True]}) == {"anyOf": [STRING, {"type": "integer"}]}


def test_consts() -> None:
    assert sent({"const": 1}) == {"type": "integer", "enum": [1]}
    assert sent({"const": None}) == NULL
    assert sent({"const": {"a": 1}}) == {"type": "object"}
    annotated = [{"const": "a", "title": "A"}, {"type": "string", "const": "b", "description": "B"}]
    assert sent({"oneOf": annotated, "title": "t"}) == {"title": "t", "type": "string", "enum": ["a", "b"]}
    assert sent({"anyOf": [{"const": 1, "type": "number"}, {"const": 2}]}) == {"type": "number", "enum": [1, 2]}
    assert sent({"type": "string", "anyOf": [{"const": "a"}, {"const": 5}]}) == {"type": "string", "enum": ["a"]}
    assert sent({"anyOf": [{"const": "a"}, {"const": None}]}) == {"anyOf": [{"type": "string", "enum": ["a"]}, NULL]}
    assert sent({"anyOf": [{"const": "a"}, {"const": "b", "minLength": 1}, STRING]}) == {
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "minLength": 1, "enum": ["b"]}, STRING]
    }


def test_unions() -> None:
    assert sent({"anyOf": [STRING, False, {"type": "number", "format": "x"}], "title": 3}) == {
        "anyOf": [STRING, {"type": "number"}]
    }
    assert sent({"anyOf": [STRING, False]}) == {"anyOf": [STRING]}
    assert sent({"anyOf": [False]}) == ANY
    assert sent({"oneOf": [STRING, True]}) == {"anyOf": [STRING, ANY]}
    assert sent({"anyOf": [STRING] * (MAX_BRANCHES + 1), "title": "t"}) == {"title": "t", **ANY}


def test_words_beside_a_union_move_into_its_branches() -> None:
    assert sent(
        {
            "type": "object",
            "properties": {"a": STRING},
            "required": ["a"],
            "additionalProperties": False,
            "title": "t",
            "anyOf": [{"properties": {"b": NULL}, "required": ["b"]}, {"type": "string"}, True, False],
        }
    ) == {
        "title": "t",
        "anyOf": [
            {
                "type": "object",
                "properties": {"b": NULL, "a": STRING},
                "required": ["b", "a"],
                "additionalProperties": False,
            },
            STRING,
            {"type": "object", "properties": {"a": STRING}, "required": ["a"], "additionalProperties": False},
        ],
    }


def test_words_keep_their_order() -> None:
    schema = {"default": "x", "type": "string", "description": "d", "anyOf": [{"minLength": 1}], "title": "t"}
    assert list(sent(schema)) == ["default", "description", "title", "anyOf"]


def test_a_type_beside_references_goes_and_words_are_merged_into_them() -> None:
    definitions = {"A": {"type": "object", "properties": {"a": STRING}}}
    bare = {"$ref": "#/$defs/A"}
    assert sent({"type": "object", "anyOf": [bare, NULL]}, definitions) == {"anyOf": [bare, NULL]}
    assert sent({"required": ["a"], "anyOf": [bare]}, definitions) == {
        "anyOf": [{"type": "object", "required": ["a"], "properties": {"a": STRING}}]
    }


def test_words_that_would_be_copied_too_often_are_left_out() -> None:
    schema = {"type": "object", "properties": {"a": STRING}, "anyOf": [{"required": ["a"]}, {"title": "t"}]}
    assert walk(copying=False).value(schema, 1, 1) == {"anyOf": [{"type": "object"}, {"type": "object", "title": "t"}]}
    assert walk(copying=False).value({"minLength": 1, "anyOf": [STRING]}, 1, 1) == {"anyOf": [STRING]}


def test_all_of() -> None:
    assert sent({"allOf": [{"type": "string", "minLength": 1}, {"minLength": 2}], "title": "t"}) == {
        "type": "string",
        "title": "t",
        "minLength": 2,
    }
    assert sent({"allOf": [{"properties": {"a": {"allOf": [STRING, {"title": "t"}]}}}, {"if": {}}]}) == {
        "type": "object",
        "properties": {"a": {"type": "string", "title": "t"}},
    }


def test_objects() -> None:
    assert sent({"type": "object", "properties": [], "required": ["a"]}) == {"type": "object", "properties": {}}
    assert sent({"type": "object", "properties": "x", "additionalProperties": 3}) == {"type": "object"}
    assert sent({"type": "object", "properties": {"a": False, "b": STRING}, "required": ["a", "b"]}) == {
        "type": "object",
        "properties": {"b": STRING},
        "required": ["b"],
    }
    assert sent({"type": "object", "additionalProperties": {"title": "t"}}) == {
        "type": "object",
        "additionalProperties": {"title": "t", **ANY},
    }


def test_arrays() -> None:
    assert sent({"type": "array", "items": True}) == {"type": "array", "items": ANY}
    assert sent({"type": "array", "items": False, "minItems": -1}) == {"type": "array"}
    assert sent({"type": "array", "items": [STRING, NULL]}) == {"type": "array", "items": {"anyOf": [STRING, NULL]}}
    assert sent({"type": "array", "items": []}) == {"type": "array"}
    assert sent({"prefixItems": [STRING, NULL]}) == {"type": "array", "items": {"anyOf": [STRING, NULL]}}


def test_references_to_definitions_stay() -> None:
    definitions = {"A": STRING}
    bare = {"$ref": "#/$defs/A"}
    assert sent(bare, definitions) is bare
    twice = {"type": "object", "properties": {"a": bare, "b": {"$ref": "#/$defs/A"}, "c": {"anyOf": [bare]}}}
    assert sent(twice, definitions) is twice
    assert sent({"$ref": "#/$defs/A", "$comment": "c"}, definitions) == bare
    assert sent({"$ref": "#/$defs/A", "title": "t"}, definitions) == {"type": "string", "title": "t"}
    assert sent({"$ref": "#/$defs/gone", "title": "t"}, definitions) == {"title": "t", **ANY}
    root = {"$ref": "#"}
    assert sent(root) is root
    assert sent({"$ref": "#", "title": "t"}) == root


def test_other_local_references_are_inlined() -> None:
    properties = {"a": {"type": "integer", "format": "x"}}
    assert sent({"$ref": "#/properties/a"}, properties=properties) == {"type": "integer"}
    assert walk(copying=False, properties=properties).value({"$ref": "#/properties/a"}, 1, 1) == {"$ref": "#/$defs/a"}


def test_recursion_through_a_place_becomes_a_definition() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/properties/node"}}}
    assert sent(node, properties={"node": node}) == {
        "type": "object",
        "properties": {"next": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    }


def test_when_the_budget_is_spent_a_reference_keeps_its_annotations() -> None:
    poor = walk({"A": {"type": "string", "title": "A"}}, copying=False)
    assert poor.value({"$ref": "#/$defs/A", "description": "d", "minLength": 1}, 1, 1) == {
        "anyOf": [{"$ref": "#/$defs/A"}],
        "description": "d",
    }


def test_definitions_that_lead_nowhere_take_anything() -> None:
    definitions = {
        "A": {"$ref": "#/$defs/B"},
        "B": {"allOf": [{"$ref": "#/$defs/A"}]},
        "C": {"$ref": "#/$defs/A"},
        "D": {"$ref": "#/$defs/E"},
        "E": STRING,
        "F": {"$ref": "#"},
        "G": {"$ref": "#/$defs/G", "title": "t"},
        "H": True,
    }
    asked = walk(definitions)
    answers = {name: asked.definition(Target(f"/$defs/{name}", schema)) for name, schema in definitions.items()}
    assert [name for name in answers if answers[name] == ANY] == ["A", "B", "C", "G", "H"]
    assert answers["D"] is definitions["D"]
    assert answers["F"] is definitions["F"]


def test_inside_its_own_target_a_reference_stays_bare() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N", "title": "t"}}}
    assert walk({"N": node}).definition(Target("/$defs/N", node)) == {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/N"}},
    }


def test_too_deep() -> None:
    deep: dict[str, Any] = {"type": "object", "properties": {"a": STRING}, "required": ["a"], "title": "t"}
    assert walk().value(deep, MAX_DEPTH - 1, 1) is deep
    assert walk().value(deep, MAX_DEPTH, 1) == {"type": "object", "title": "t"}
    assert walk().value(STRING, 1, MAX_LEVELS + 1) == ANY


def test_the_root_and_the_count_of_properties() -> None:
    counted = walk()
    root = {"type": "object", "properties": {"a": STRING, "b": {"type": "object", "properties": {"c": STRING}}}}
    assert counted.root(root, set()) is root
    assert counted.keys == 3
