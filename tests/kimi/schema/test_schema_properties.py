"""What must hold for every schema: the result is good, the second pass changes nothing, the input stays."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.kimi.schema.instances import Checker
from tests.kimi.schema.strategies import DEFINITIONS, SCHEMAS, VALUES, parameters

from moongate.errors import BadRequest
from moongate.kimi.schema import normalise_schema, validate_schema
from moongate.kimi.schema.references import subschemas

PROPERTY = settings(max_examples=500, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@PROPERTY
@given(parameters())
def test_any_schema_becomes_a_good_one(schema: Any) -> None:
    before = copy.deepcopy(schema)
    if not (isinstance(schema, dict) or schema is None or schema is True or schema == []):
        with pytest.raises(BadRequest, match="'t'"):
            normalise_schema(schema, tool="t")
        return
    result = normalise_schema(schema, tool="t")
    assert schema == before
    assert validate_schema(result) is None
    assert normalise_schema(result, tool="t") is result
    if validate_schema(schema) is None and not has_annotated_reference(schema):
        assert result is schema


def has_annotated_reference(schema: dict[str, Any]) -> bool:
    """Moonshot takes a description beside a `$ref`, but section 10 has it inlined all the same."""
    return any("$ref" in inner and len(inner) > 1 for _, inner in subschemas(schema))


@PROPERTY
@given(SCHEMAS, DEFINITIONS, VALUES)
def test_nothing_becomes_narrower(schema: Any, definitions: dict[str, Any], value: Any) -> None:
    root = {"type": "object", "properties": {"v": schema, "a": {"type": "integer"}}, "$defs": definitions}
    assume(Checker(root).accepts(root, {"v": value}))
    result = normalise_schema(root)
    assert Checker(result).accepts(result, {"v": value})
