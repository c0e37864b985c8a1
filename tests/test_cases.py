"""Rows of our own in the form of the vectors (`tests/cases/`): where clauses meet, and how they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import test_vectors_request, test_vectors_schema

CASES = Path(__file__).parent / "cases"


def cases(kind: str) -> list[Any]:
    lines = (CASES / f"{kind}.jsonl").read_text(encoding="utf-8").split("\n")
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, filter(None, lines))]


@pytest.mark.parametrize("row", cases("request"))
def test_request(row: dict[str, Any]) -> None:
    test_vectors_request.test_request(row)


@pytest.mark.parametrize("row", cases("schema"))
def test_schema(row: dict[str, Any]) -> None:
    test_vectors_schema.test_schema(row)
