"""What must hold for every schema: the result is good, no narrower, bounded, and a second pass changes nothing."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kimi.schema.instances import Sampler, is_valid, readings, renamed
from tests.kimi.schema.strategies import DEFINITIONS, SCHEMAS, parameters
from tests.kimi.schema.test_verdicts import VERDICTS
from tests.schemas import real_tools
from tests.support.length import examples

from moongate.errors import BadRequest
from moongate.kimi.schema import Level, StepBudget, normalise_schema, normalised, validate_schema
from moongate.kimi.schema.step_budget import MAX_STEPS
from moongate.payload import dumps

PROPERTY = settings(
    max_examples=examples(500), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
LEVELS = st.sampled_from(["strict", "ultra"])


@PROPERTY
@given(parameters(), LEVELS)
def test_any_schema_becomes_a_good_one(schema: Any, level: Level) -> None:
    before = copy.deepcopy(schema)
    if not (isinstance(schema, dict) or schema is None or schema is True or schema == []):
        with pytest.raises(BadRequest, match="'t'"):
            normalise_schema(schema, tool="t", level=level)
        return
    steps = StepBudget()
    result = normalise_schema(schema, tool="t", level=level, steps=steps)
    assert schema == before
    assert (result is schema) == (validate_schema(schema, level) is None)
    if result is not schema:
        assert validate_schema(result, "ultra") is None
        assert validate_schema(result, "strict") is None
    assert normalise_schema(result, tool="t", level=level) is result
    size = len(dumps(schema))
    assert len(dumps(result)) <= 4 * size + 64 * 1024
    assert MAX_STEPS - steps.left < 3 * (4000 + size)


@PROPERTY
@given(SCHEMAS, DEFINITIONS, st.integers(0, 10**6))
def test_nothing_becomes_narrower(schema: Any, definitions: dict[str, Any], seed: int) -> None:
    root = {"type": "object", "properties": {"v": schema, "a": {"type": "integer"}}, "$defs": definitions}
    assert_no_narrower(root, seed)


def assert_no_narrower(schema: Any, seed: int) -> None:
    """Arguments that the schema takes are taken by the normalised one."""
    result = normalised(schema, tool="t")
    assert validate_schema(result.schema, "ultra") is None
    sent = {original: name for name, original in result.names.items()}
    before, sampler = readings(schema), Sampler(schema, seed)
    for _ in range(12):
        value = sampler.value(schema)
        if isinstance(value, dict) and is_valid(before, value):
            assert is_valid(result.schema, renamed(value, sent)) is not False


def has_root_union(schema: dict[str, Any]) -> bool:
    """Section 10 merges a union at the root: properties of one branch are then described in all."""
    return not schema.keys().isdisjoint(("anyOf", "oneOf", "allOf", "$ref"))


def test_real_schemas_become_no_narrower() -> None:
    for at, tool in enumerate(real_tools()):
        assert_no_narrower(tool["function"]["parameters"], at)


def test_schemas_with_a_known_verdict_become_no_narrower() -> None:
    if not VERDICTS.exists():
        pytest.skip("the verdicts of Moonshot's validator are not here (../shared/mfjs/verdicts.jsonl)")
    for at, line in enumerate(VERDICTS.read_text(encoding="utf-8").split("\n")):
        if line and '"http://x/y.json"' not in line and not has_root_union(schema := json.loads(line)["schema"]):
            assert_no_narrower(schema, at)
