from __future__ import annotations

import copy
from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.errors import BadRequest
from moongate.kimi.notes import Notes
from moongate.kimi.request.schema_cache import SchemaCache
from moongate.kimi.request.schema_writer import RESPONSE_FORMAT, SchemaWriter
from moongate.kimi.schema import Level

GOOD: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}}
BAD: dict[str, Any] = {"type": "object", "properties": {"q": {"enum": ["a"]}}}
MENDED: dict[str, Any] = {"type": "object", "properties": {"q": {"enum": ["a"], "type": "string"}}}
RESERVED: dict[str, Any] = {"type": "object", "properties": {"required": {"type": "string"}}, "required": ["required"]}
REMOTE: dict[str, Any] = {"type": "object", "properties": {"a": {"$ref": "https://x.example/s"}}}


def writer(level: Level = "strict") -> tuple[SchemaWriter, Notes]:
    notes = Notes()
    return SchemaWriter(SchemaCache(), notes, level), notes


def wanting(schema: Any) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}}


@pytest.mark.parametrize("schema", [GOOD, {}, {"type": "object", "$schema": "s"}, "x", 5, False])
def test_what_the_server_takes_and_what_is_no_schema_stay(schema: Any) -> None:
    schemas, notes = writer()
    assert schemas.write(schema, "t", "p") is schema
    assert list(notes) == []


def test_a_changed_schema_leaves_a_note() -> None:
    schemas, notes = writer()
    assert schemas.write(BAD, "t", "tools[0].function.parameters") == MENDED
    assert list(notes) == [Note("schema", "tools[0].function.parameters", BAD, MENDED)]
    assert schemas.write(None, "t", "p") == {"type": "object", "properties": {}}


def test_the_level_decides() -> None:
    schema = {"type": "object", "$schema": "s"}
    assert writer("ultra")[0].write(schema, "t", "p") == {"type": "object"}


def test_changed_names_of_properties_are_kept_by_tool() -> None:
    schemas, _ = writer()
    schemas.write(GOOD, "good", "p")
    result: Any = schemas.write(RESERVED, "bash", "p")
    assert schemas.properties == {"bash": {result["required"][0]: "required"}}


def test_an_error_names_the_tool_and_the_place() -> None:
    with pytest.raises(BadRequest, match="tool 'bash': the remote reference") as refused:
        writer()[0].write(REMOTE, "bash", "tools[2].function.parameters")
    assert refused.value.path == "tools[2].function.parameters.properties.a.$ref"


def test_all_schemas_share_one_budget_of_steps() -> None:
    schemas, _ = writer("ultra")
    properties = {f"p{at}": {"title": "x" * 60, "format": "f"} for at in range(900)}
    many = [{"type": "object", "properties": properties, "title": f"{at}"} for at in range(30)]
    written = [schemas.write(schema, f"tool_{at}", "p") for at, schema in enumerate(many)]
    assert "p899" in str(written[0])
    assert written[-1] == {"type": "object"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"response_format": "text"},
        {"response_format": {"type": "json_object"}},
        {"response_format": {"json_schema": 5}},
        wanting(5),
        wanting(GOOD),
    ],
)
def test_other_response_formats_are_the_same_object(body: dict[str, Any]) -> None:
    assert writer()[0].write_response_format(body) is body


def test_the_schema_of_an_answer_follows_the_same_rules() -> None:
    body = {"model": "m", **wanting(BAD)}
    before = copy.deepcopy(body)
    schemas, notes = writer()
    assert schemas.write_response_format(body) == {"model": "m", **wanting(MENDED)}
    assert [note.where for note in notes] == ["response_format.json_schema.schema"]
    assert body == before


def test_its_names_and_errors_are_those_of_no_tool() -> None:
    schemas, _ = writer()
    schemas.write_response_format(wanting(RESERVED))
    assert list(schemas.properties) == [RESPONSE_FORMAT]
    with pytest.raises(BadRequest) as refused:
        schemas.write_response_format(wanting(REMOTE))
    assert refused.value.message.startswith("the remote reference")
    assert refused.value.path == "response_format.json_schema.schema.properties.a.$ref"


def test_writers_that_write_the_same_have_one_identity() -> None:
    cache = SchemaCache()
    assert SchemaWriter(cache, Notes(), "ultra").identity == SchemaWriter(cache, Notes(), "ultra").identity
    assert SchemaWriter(cache, Notes(), "ultra").identity != SchemaWriter(cache, Notes(), "strict").identity
    assert SchemaWriter(cache, Notes(), "ultra").identity != SchemaWriter(SchemaCache(), Notes(), "ultra").identity
