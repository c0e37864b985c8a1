"""The guard's check agrees with `jsonschema`, and mended means that it fits."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.json_schema import misfit
from tests.support.length import examples

from moongate.kimi.guard.tool_schemas import ToolSchema

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "", "a", "A", " a", "1", "null"])
NAMES = st.sampled_from(["a", "b", "A", "a_b", "aB"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
        optional={
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "minProperties": st.integers(0, 2),
        },
    )


def _composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"minItems": st.integers(0, 2), "uniqueItems": st.booleans(), "prefixItems": several},
    )
    unions = st.sampled_from(["anyOf", "oneOf", "allOf"]).flatmap(lambda word: st.fixed_dictionaries({word: several}))
    conditions = st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner})
    parts = st.lists(_objects(inner) | unions | conditions, min_size=1, max_size=2)
    closed = st.fixed_dictionaries(
        {"allOf": parts, "unevaluatedProperties": st.just(False) | inner},
        optional={"properties": st.dictionaries(NAMES, inner, max_size=2), "dependentSchemas": _depending(inner)},
    )
    return _objects(inner) | lists | unions | conditions | closed | st.fixed_dictionaries({"not": inner})


def _depending(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(NAMES, inner, max_size=2)


LEAVES = (
    st.fixed_dictionaries({"type": TYPES}, optional={"minimum": st.integers(-2, 2), "maxLength": st.integers(0, 2)})
    | st.fixed_dictionaries({"type": st.lists(TYPES, min_size=1, max_size=3, unique=True)})
    | st.fixed_dictionaries({"enum": st.lists(SCALARS, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"const": SCALARS})
    | st.booleans()
)
SCHEMAS = st.recursive(LEAVES, _composed, max_leaves=8)


@settings(max_examples=examples(400), deadline=None)
@given(SCHEMAS, VALUES)
def test_the_check_agrees_with_jsonschema(schema: Any, value: Any) -> None:
    assert (ToolSchema(schema).mismatch(value) is None) is (misfit(schema, value) is None)


@settings(max_examples=examples(400), deadline=None)
@given(_objects(SCHEMAS), VALUES)
def test_what_is_mended_fits_and_is_not_mended_again(schema: Any, value: Any) -> None:
    mended = ToolSchema(schema).mended(value)
    if mended is not None:
        assert misfit(schema, mended.value) is None
        assert ToolSchema(schema).mended(mended.value) == (mended.value, ())
