from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from moongate.gateway.config import schema as module
from moongate.gateway.config.schema import indented, json_schema, schema, shipped_schema, tables
from moongate.gateway.config.settings import TABLES
from moongate.gateway.config.table import settings_of

SHIPPED = Path(module.__file__).parent / "schema.json"


def test_the_shipped_schema_is_current() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == shipped_schema(), "run: python -m docs.generate"
    assert json.loads(shipped_schema()) == json.loads(json_schema())


def test_it_is_plain_json() -> None:
    assert json.loads(json_schema()) == schema()


def walk(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(found for each in value.values() for found in walk(each))]
    return [found for each in value for found in walk(each)] if isinstance(value, list) else []


def test_every_object_with_settings_is_closed_and_every_setting_described() -> None:
    for part in walk(schema()):
        if "properties" in part and part.get("type") == "object":
            assert part["additionalProperties"] is False
            assert all(each["description"] for each in part["properties"].values())


def test_the_documentation_lists_every_setting() -> None:
    text = tables()
    for row in TABLES:
        assert f"### {row.__name__}\n" in text
        for each in settings_of(row):
            assert f"| `{each.name}` |" in text


def test_indented_json_is_readable() -> None:
    value = {"a": [1, "x"], "b": [{"c": {}}], "d": [], "e": None}
    assert json.loads(indented(value)) == value
    assert indented({"a": [1, 2]}) == '{\n  "a": [1,2]\n}'
