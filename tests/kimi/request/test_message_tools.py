from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.notes import Notes
from moongate.kimi.request.message_tools import without_empty_content, write_message_tools
from moongate.kimi.request.schema_cache import SchemaCache
from moongate.kimi.request.schema_writer import SchemaWriter
from moongate.kimi.request.tool_names import MOONSHOT_NAME, UNCHANGED, ToolNames
from moongate.payload import JsonObject

USER: JsonObject = {"role": "user", "content": "go"}
EMPTY = {"type": "object", "properties": {}}


def tool(name: str, parameters: JsonObject = EMPTY) -> JsonObject:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def system(*tools: Any, **more: Any) -> JsonObject:
    return {"role": "system", "tools": list(tools), **more}


@pytest.mark.parametrize("content", [None, ""])
def test_empty_content_beside_tools_is_left_out(content: Any) -> None:
    notes = Notes()
    messages = [system(tool("a"), content=content), USER]
    assert without_empty_content(messages, [0], notes) == [system(tool("a")), USER]
    assert [note.kind for note in notes] == ["history_message"]


def test_developer_becomes_system() -> None:
    message = {**system(tool("a")), "role": "developer"}
    assert without_empty_content([message], [0], Notes()) == [system(tool("a"))]


@pytest.mark.parametrize("more", [{}, {"content": "use these"}, {"content": []}])
def test_a_message_that_the_host_accepts_is_the_same_object(more: JsonObject) -> None:
    messages, notes = [USER, system(tool("a"), **more)], Notes()
    assert without_empty_content(messages, [1], notes)[1] is messages[1]
    assert not notes


def test_names_and_schemas_follow_section_10() -> None:
    notes = Notes()
    names = ToolNames.of(["a.b"], MOONSHOT_NAME)
    odd = {"type": "object", "properties": {"x": {"enum": ["a"], "format": "f"}}, "$schema": "s"}
    messages = [USER, system(tool("a.b", odd), tool("good")), system(tool("good"))]
    written = write_message_tools(messages, [1, 2], names, SchemaWriter(SchemaCache(), notes, "strict"), notes)
    fixed = {"type": "object", "properties": {"x": {"type": "string", "enum": ["a"]}}}
    assert written == [USER, system(tool(names.sent("a.b"), fixed), tool("good")), system(tool("good"))]
    assert written[2] is messages[2]
    assert {note.where for note in notes} == {
        "messages[1].tools[0].function.name",
        "messages[1].tools[0].function.parameters",
    }
    assert write_message_tools(messages, [1, 2], UNCHANGED, None, notes) == messages
