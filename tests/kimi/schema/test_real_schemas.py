"""Schemas of real tools: what published packages offer goes through, and what is good stays as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.schemas import FILES, real_tools

from moongate.kimi.schema import normalise_schema, validate_schema


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 15
    assert len(real_tools()) >= 300
    assert len(real_tools()[0]["function"]["parameters"]) > 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_real_schemas_become_good(path: Path) -> None:
    package: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert package["source"].split()[0] in ("npm", "PyPI")
    for tool in package["tools"]:
        before = json.dumps(tool["parameters"])
        result = normalise_schema(tool["parameters"], tool=tool["name"])
        assert validate_schema(result) is None, tool["name"]
        assert normalise_schema(result, tool=tool["name"]) is result
        assert json.dumps(tool["parameters"]) == before
        assert result.get("properties", {}).keys() >= tool["parameters"].get("properties", {}).keys()
