"""Schemas for Hypothesis: every keyword, good and wrong values, references, recursion; and values for them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "type", "required", "$ref", "enum", "properties", "anyOf", "$defs", "x/y", ""])
DEFINITION_NAMES = st.sampled_from(["A", "B", "N", "a/b", "p%q"])
SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 2.5]) | st.sampled_from(["", "x", "yy"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
REFS = st.sampled_from(
    [
        *("#", "#/$defs/A", "#/$defs/B", "#/$defs/N", "#/definitions/A", "#/definitions/N", "#/$defs/a~1b"),
        *("#/properties/a", "#/properties/b/items", "#/$defs/A/properties/a", "#/nowhere", "#mark"),
        *("#/$defs/missing", "#/$defs/p%25q"),
    ]
)
REMOVED = {
    "$schema": st.just("s"),
    "$comment": st.just("c"),
    "nullable": st.booleans(),
    "pattern": st.just("^x"),
    "format": st.just("uri"),
    "uniqueItems": st.booleans(),
    "exclusiveMinimum": st.integers(-2, 2),
    "multipleOf": st.just(2),
    "examples": st.lists(VALUES, max_size=2),
    "deprecated": st.booleans(),
    "propertyNames": st.just({"pattern": "x"}),
    "x-vendor": VALUES,
}


def _keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    several = st.lists(inner, max_size=3)
    named = st.dictionaries(NAMES, inner, max_size=3)
    return {
        "type": TYPES | st.lists(TYPES, max_size=3) | st.sampled_from(["any", 5, None, [7], "STRING"]),
        "title": st.just("t") | st.just(3),
        "description": st.just("d") | st.none(),
        "default": VALUES,
        "properties": named | st.sampled_from([[], None, "x"]),
        "required": st.lists(NAMES | SCALARS, max_size=4) | st.just(True),
        "additionalProperties": inner | st.booleans() | st.sampled_from([{}, None, 3]),
        "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
        "items": inner | several | st.booleans(),
        "prefixItems": several,
        "additionalItems": inner,
        "anyOf": several,
        "oneOf": several | st.lists(st.fixed_dictionaries({"const": SCALARS}), min_size=1, max_size=3),
        "allOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "enum": st.lists(VALUES, max_size=4) | st.just("x"),
        "const": VALUES,
        "$ref": REFS | st.just(5),
        "$anchor": st.just("mark"),
        "minLength": st.integers(-1, 3) | st.just("x"),
        "maxLength": st.integers(-1, 3),
        "minimum": st.integers(-3, 3) | st.just(0.5),
        "maximum": st.integers(-3, 3),
        "minItems": st.integers(-1, 3) | st.just(1.5),
        "maxItems": st.integers(-1, 3),
        **REMOVED,
    }


def _schema(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords = _keywords(inner)
    chosen = st.lists(st.sampled_from(sorted(keywords)), unique=True, max_size=5)
    return chosen.flatmap(lambda words: st.fixed_dictionaries({word: keywords[word] for word in words}))


SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.none() | _schema(st.just({})) | st.fixed_dictionaries({"type": TYPES}), _schema, max_leaves=12
)
DEFINITIONS = st.dictionaries(DEFINITION_NAMES, SCHEMAS, max_size=3)


@st.composite
def parameters(draw: st.DrawFn) -> Any:
    """The parameters of a tool: mostly an object schema with definitions, now and then any JSON."""
    root = draw(SCHEMAS | SCALARS | st.lists(VALUES, max_size=2))
    if not isinstance(root, dict):
        return root
    properties = draw(st.dictionaries(NAMES, SCHEMAS, max_size=3))
    extra: dict[str, Any] = {"properties": properties} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        extra["type"] = "object"
    for word in ("$defs", "definitions"):
        if draw(st.booleans()):
            extra[word] = draw(DEFINITIONS)
    return {**root, **extra}
