from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.schema.paths import written
from moongate.kimi.schema.reference_rules import ReferenceRules
from moongate.kimi.schema.step_budget import StepBudget

TEXT: dict[str, Any] = {"type": "string", "description": "d", "minLength": 1}


def finding(schema: dict[str, Any], *mentioned: str, ultra: bool = True) -> str | None:
    found = ReferenceRules(schema, ultra, StepBudget()).finding(dict.fromkeys(mentioned))
    return None if found is None else f"{written(found[0])}: {found[1]}"


def at(place: dict[str, Any], **definitions: Any) -> dict[str, Any]:
    """A root that can end, with `place` as a property."""
    return {"type": "object", "properties": {"a": place}, "$defs": {"T": TEXT, **definitions}}


@pytest.mark.parametrize(
    "schema",
    [
        at({"$ref": "#/$defs/T", "title": "t"}),
        at({"$ref": "#"}),
        at({"$ref": "#/$defs/A/properties/x"}, A={"properties": {"x": {}}}),
        at({"type": "array", "items": {"$ref": "#/$defs/T"}}),
        at({"anyOf": [{"$ref": "#/$defs/T"}, True]}),
        at({"additionalProperties": {"$ref": "#/$defs/T"}}),
        at({"$ref": "#/$defs/L"}, L={"$ref": "#/$defs/L"}),
        at({"$ref": "#/$defs/L", "minimum": 1}, L={"anyOf": [{"minLength": 1}, True]}),
        at({"$ref": None}),
        {"$ref": "#/$defs/T", "$defs": {"T": TEXT}},
    ],
)
def test_references_that_are_taken(schema: dict[str, Any]) -> None:
    assert finding(schema) is None


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (at({"$ref": "#/$defs/T", "minLength": 2}), "properties.a: conflicting keywords found after $ref expansion"),
        (at({"not": {"$ref": "#/$defs/T"}}), "properties.a.not: $ref is not allowed in this schema."),
        (at({"default": {"$ref": 5}}), "properties.a.default: $ref must be a string"),
        (at({"default": {"$ref": "http://x"}}), "$ref: only local references are supported"),
        (at({"default": {"$ref": "#/$defs/B"}}), "properties.a.default: invalid $ref path: #/$defs/B"),
        (at({"$ref": "#/$defs/C"}, C={"$ref": "#/$defs/B"}), "properties.a: invalid $ref path: #/$defs/B"),
        (
            at({"$ref": "#/$defs/U", "minLength": 1}, U={"anyOf": [{"minLength": 2}]}),
            "properties.a: conflicting keywords found in anyOf after ref expansion: minLength",
        ),
        (
            at({"$ref": "#/$defs/T", "anyOf": [{"maxLength": 2}]}),
            "properties.a: invalid schema after $ref expansion: (when using anyOf, type should be defined",
        ),
        (
            at({"if": {"$ref": "#/$defs/U", "type": "string"}}, U={"anyOf": [{"minLength": 2}]}),
            "properties.a.if: invalid schema after $ref expansion: (when using anyOf, type should be defined",
        ),
        (at({"if": {"$ref": None, "const": 1}}), "properties.a.if: conflicting keywords found after $ref expansion"),
    ],
)
def test_references_that_are_refused_at_both_levels(schema: dict[str, Any], text: str) -> None:
    assert (finding(schema) or "").startswith(text)
    assert (finding(schema, ultra=False) or "").startswith(text)


@pytest.mark.parametrize(
    "schema",
    [
        at({"$ref": "#/$defs/T", "description": "mine"}),
        at({"$ref": "#/$defs/A", "description": "mine"}, A={"$ref": "#/$defs/B", "description": "x"}, B={}),
        at({"$ref": "#/$defs/U", "description": "mine"}, U={"anyOf": [{"description": "a name"}]}),
        at(
            {"$ref": "#/$defs/A"},
            A={"$ref": "#/$defs/B", "description": "x"},
            B={"$ref": "#/$defs/T", "description": "y"},
        ),
    ],
)
def test_annotations_on_both_sides_are_refused_only_by_the_strictest_level(schema: dict[str, Any]) -> None:
    assert "description" in (finding(schema) or "")
    assert finding(schema, ultra=False) is None


def test_references_inside_definitions_may_repeat_annotations() -> None:
    schema = at({"$ref": "#/$defs/A"}, A={"type": "object", "properties": {"b": {"$ref": "#/$defs/T", "title": "t"}}})
    assert finding(schema) is None


def test_a_reference_that_is_mentioned_must_lead_somewhere() -> None:
    assert finding(at({}), "#/$defs/T", "#/$defs/T/x") == "root: invalid $ref path: #/$defs/T/x"


def test_a_root_that_cannot_end_makes_every_reference_end() -> None:
    loop = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    assert finding(loop) == "properties.a: detected infinite recursion without termination condition"
    waived = {"anyOf": [{"$ref": "#"}], "additionalProperties": {"$ref": "#/$defs/N"}, "$defs": {"N": {"title": "t"}}}
    assert finding({**waived, "anyOf": [{"title": "x"}]}) is None
    assert finding(waived) is not None
    empty = {"description": "d", "properties": {"a": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"title": "t"}}}
    assert finding({**empty, "required": []}) is None
    assert finding(empty) is not None


def test_chains_of_references_cost_steps_in_proportion() -> None:
    count = 3000
    definitions = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(count)}
    schema = {
        "type": "object",
        "properties": {f"p{at}": {"$ref": f"#/$defs/d{at}"} for at in range(count)},
        "$defs": {**definitions, f"d{count}": TEXT},
    }
    steps = StepBudget()
    assert ReferenceRules(schema, True, steps).finding({}) is None
    assert 200_000 - steps.left < 10 * count
