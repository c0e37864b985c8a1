"""Our validator beside Moonshot's own, on schemas whose verdict is known at both levels."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.schema import Level, normalise_schema, validate_schema

VERDICTS = Path(__file__).parents[3] / ".." / "shared" / "mfjs" / "verdicts.jsonl"
LEVELS: tuple[Level, ...] = ("strict", "ultra")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    if not VERDICTS.exists():
        pytest.skip("the verdicts of Moonshot's validator are not here (../shared/mfjs/verdicts.jsonl)")
    return [json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize("level", LEVELS)
def test_the_validator_agrees_with_every_verdict(rows: list[dict[str, Any]], level: Level) -> None:
    assert len(rows) >= 3600
    different = [row for row in rows if (validate_schema(row["schema"], level) is None) != (row[level] is None)]
    assert different == []


@pytest.mark.parametrize("level", LEVELS)
def test_most_refusals_are_in_the_same_words(rows: list[dict[str, Any]], level: Level) -> None:
    refused = [row for row in rows if row[level] is not None]
    same = sum(validate_schema(row["schema"], level) == row[level] for row in refused)
    assert same / len(refused) > 0.9  # Moonshot looks at properties in no certain order


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_accepted_stays_and_what_is_refused_becomes_good(rows: list[dict[str, Any]], level: Level) -> None:
    for row in rows:
        schema = row["schema"]
        if row[level] is None:
            assert normalise_schema(schema, level=level) is schema
            continue
        if '"http://x/y.json"' in json.dumps(schema):
            with suppress(BadRequest):  # a remote reference, unless nothing leads to it
                normalise_schema(schema, tool="t", level=level)
            continue
        result = normalise_schema(schema, tool="t", level=level)
        assert validate_schema(result, "ultra") is None
        assert normalise_schema(result, level="ultra") is result
