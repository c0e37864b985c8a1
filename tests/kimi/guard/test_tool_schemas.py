"""Schemas are prepared once per tool."""

from __future__ import annotations

from typing import Any

from moongate.kimi.guard import tool_schemas as module
from moongate.kimi.guard.tool_schemas import MAX_BYTES, MAX_SCHEMAS, ToolSchema, ToolSchemas


def schema(name: str, size: int = 0) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"description": "x" * size}}}


def test_equal_schemas_are_prepared_once() -> None:
    schemas = ToolSchemas()
    assert schemas.of(schema("a")) is schemas.of(schema("a"))
    assert schemas.of(schema("a")) is not schemas.of(schema("b"))
    assert module.RULES


def test_a_tool_without_parameters_takes_any_object() -> None:
    tool = ToolSchemas().of(None)
    assert tool.mismatch({"a": 1}) is None
    assert tool.mismatch([]) is not None
    assert ToolSchema({}).mismatch([]) is None
    assert ToolSchema({"type": "integer"}).mended("5") == (5, (((), "5", 5, "JSON was written as text"),))


def test_the_cache_is_bounded() -> None:
    schemas = ToolSchemas()
    first, second = schemas.of(schema("first")), schemas.of(schema("second"))
    for number in range(MAX_SCHEMAS - 2):
        schemas.of(schema(str(number)))
    assert schemas.of(schema("first")) is first
    schemas.of(schema("one more"))
    assert schemas.of(schema("first")) is first
    assert schemas.of(schema("second")) is not second
    large = schemas.of(schema("large", MAX_BYTES))
    assert schemas.of(schema("large", MAX_BYTES)) is large
    assert schemas.of(schema("first")) is not first
