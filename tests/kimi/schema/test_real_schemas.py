"""Schemas of real tools, as published packages offer them: what Moonshot's server takes stays as it is."""

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


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_real_schemas_become_good(path: Path) -> None:
    package: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert package["source"].split()[0] in ("npm", "PyPI")
    for tool in package["tools"]:
        before = json.dumps(tool["parameters"])
        result = normalise_schema(tool["parameters"], tool=tool["name"], level="ultra")
        assert validate_schema(result, "ultra") is None
        assert normalise_schema(result, level="ultra") is result
        assert json.dumps(tool["parameters"]) == before


def test_at_the_level_of_the_server_all_but_one_stay_as_they_are() -> None:
    schemas = [tool["function"]["parameters"] for tool in real_tools()]
    changed = [schema for schema in schemas if normalise_schema(schema, level="strict") is not schema]
    refused = [schema for schema in schemas if validate_schema(schema, "strict") is not None]
    assert changed == refused
    assert len(changed) == 1
