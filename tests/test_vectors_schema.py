"""The schema rows of the test vectors, run as tests/vectors/README.md says."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from moongate.errors import BadRequest
from moongate.kimi.schema import normalise_schema

VECTORS = Path(__file__).parent / "vectors" / "schema.jsonl"
ROWS = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").split("\n") if line]
SETS = ("anyOf", "enum", "required")


def comparable(schema: Any) -> Any:
    """A schema in which `anyOf`, `enum` and `required` are sets, and names of properties are not words."""
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for word, value in schema.items():
        if word in ("properties", "$defs") and isinstance(value, dict):
            result[word] = {name: comparable(inner) for name, inner in value.items()}
        elif word in SETS and isinstance(value, list):
            if value or word != "required":
                result[word] = sorted(json.dumps(comparable(item), sort_keys=True) for item in value)
        else:
            result[word] = comparable(value)
    return result


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_schema(row: dict[str, Any]) -> None:
    expect, before = row["expect"], copy.deepcopy(row["parameters"])
    if "error" in expect:
        with pytest.raises(BadRequest) as refused:
            normalise_schema(row["parameters"], tool=row["tool"])
        assert refused.value.status == expect["error"]["status"]
        assert all(text in str(refused.value) for text in expect["error"]["contains"])
    else:
        found = normalise_schema(row["parameters"], tool=row["tool"])
        assert comparable(found) == comparable(expect["parameters"])
        assert normalise_schema(found, tool=row["tool"]) is found
    assert row["parameters"] == before
