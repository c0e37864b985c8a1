"""Anthropic's tools → chat tools. Tools that run on Anthropic's servers are left out, with a note."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final, NamedTuple

from moongate.chat.contracts import Note
from moongate.errors import BadRequest
from moongate.payload import JsonObject

ADDITION: Final = "tool_addition"  # the type of a block that adds a tool in the middle of a conversation

# Tools that the client runs and that have no schema in the request, because Anthropic's models are trained on them.
# Other models need a description and a schema.
_PREDEFINED: Final[dict[str, tuple[str, JsonObject]]] = {
    "bash": (
        "Runs a command in a persistent bash session.",
        {
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command to run."},
                "restart": {"type": "boolean", "description": "Restart the session instead."},
            },
        },
    ),
    "text_editor": (
        "Views and edits files. Commands: view, create, str_replace, insert.",
        {
            "type": "object",
            "properties": {
                "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
                "path": {"type": "string", "description": "The file or directory."},
                "file_text": {"type": "string", "description": "create: the content of the file."},
                "old_str": {"type": "string", "description": "str_replace: the text to replace, unique in the file."},
                "new_str": {"type": "string", "description": "str_replace: the new text."},
                "insert_line": {"type": "integer", "description": "insert: the line to insert after."},
                "insert_text": {"type": "string", "description": "insert: the text to insert."},
                "view_range": {
                    "type": "array",
                    "items": {"type": "integer"},
                    "description": "view: the first and the last line.",
                },
            },
            "required": ["command", "path"],
        },
    ),
}


class ToolDeclaration(NamedTuple):
    """One declaration of a tool."""

    path: str
    tool: JsonObject
    message: int | None = None  # the index of the message that adds it


def left_out_tools(body: JsonObject) -> list[Note]:
    """One note per tool that cannot be served."""
    return [
        Note("parameter", declared.path, before=declared.tool.get("type"))
        for declared in declared_tools(body)
        if chat_tool(declared.tool, declared.path) is None
    ]


def declared_tools(body: JsonObject) -> Iterator[ToolDeclaration]:
    """Every tool of the request: those in `tools`, and those that messages add."""
    tools = body.get("tools")
    if tools is not None and not isinstance(tools, list):
        raise BadRequest("must be a list of tools", path="tools")
    for index, tool in enumerate(tools or ()):
        if not isinstance(tool, dict):
            raise BadRequest("must be an object", path=f"tools[{index}]")
        yield ToolDeclaration(f"tools[{index}]", tool)
    messages = body.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        for position, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict) and block.get("type") == ADDITION:
                definition = block["tool"].get("definition") if isinstance(block.get("tool"), dict) else None
                if isinstance(definition, dict):
                    yield ToolDeclaration(f"messages[{index}].content[{position}].tool.definition", definition, index)


def chat_tool(tool: JsonObject, path: str) -> JsonObject | None:
    """The tool as a chat tool, or None if only Anthropic's servers can run it."""
    kind, name = tool.get("type"), tool.get("name")
    if isinstance(tool.get("function"), dict) and isinstance(tool["function"].get("name"), str):
        return {"type": "function", "function": tool["function"]}  # already in chat's format
    schema, description = tool.get("input_schema"), tool.get("description")
    if is_predefined(tool):
        predefined = _PREDEFINED.get(str(kind).rsplit("_", 1)[0])
        if predefined is None:
            return None
        description, schema = predefined
    if not name or not isinstance(name, str):
        raise BadRequest("must be the name of the tool", path=f"{path}.name")
    function: JsonObject = {"name": name}
    if description:
        function["description"] = description
    if schema is not None:
        function["parameters"] = schema
    if isinstance(tool.get("strict"), bool):
        function["strict"] = tool["strict"]
    return {"type": "function", "function": function}


def is_predefined(tool: JsonObject) -> bool:
    """Is it one of Anthropic's, which have no schema in the request?"""
    is_chat = isinstance(tool.get("function"), dict) and isinstance(tool["function"].get("name"), str)
    return not is_chat and tool.get("input_schema") is None and tool.get("type") not in (None, "custom")


def choice_fields(choice: object, offered: Set[str]) -> JsonObject:
    """The chat fields for `tool_choice`. Forcing a tool that was left out becomes `auto`."""
    if choice is None:
        return {}
    kind = choice.get("type") if isinstance(choice, dict) else choice
    fields: JsonObject = {}
    if kind in ("auto", "none"):
        fields["tool_choice"] = kind
    elif kind == "any":
        fields["tool_choice"] = "required"
    elif kind == "tool" and isinstance(choice, dict):
        name = str(choice.get("name"))
        fields["tool_choice"] = {"type": "function", "function": {"name": name}} if name in offered else "auto"
    else:
        raise BadRequest("must be auto, any, tool or none", path="tool_choice.type")
    if isinstance(choice, dict) and choice.get("disable_parallel_tool_use"):
        fields["parallel_tool_calls"] = False
    return fields
