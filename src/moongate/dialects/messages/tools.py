"""Anthropic's tools → chat tools. Tools that Anthropic's own servers run are left out, with a note."""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.contracts import Note
from moongate.errors import BadRequest
from moongate.payload import JsonObject

# Tools that the client runs but whose schema only Anthropic's models know by heart: the others are told it.
_TAUGHT: Final[dict[str, tuple[str, JsonObject]]] = {
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


def chat_tools(body: JsonObject) -> list[JsonObject]:
    """The tools that can be offered, as chat tools. Raises BadRequest with the path of the culprit."""
    tools = []
    names = set()
    for path, tool in _declared(body):
        mapped = _function(tool, path)
        if mapped is not None and mapped["function"]["name"] not in names:
            names.add(mapped["function"]["name"])
            tools.append(mapped)
    return tools


def left_out_tools(body: JsonObject) -> list[Note]:
    """One note per tool that cannot be served."""
    return [
        Note("parameter", path, before=tool.get("type"))
        for path, tool in _declared(body)
        if _function(tool, path) is None
    ]


def _declared(body: JsonObject) -> list[tuple[str, Any]]:
    """Every tool of the request, with its path: `tools`, and those that a message brings along."""
    tools = body.get("tools")
    if tools is not None and not isinstance(tools, list):
        raise BadRequest("must be a list of tools", path="tools")
    declared: list[tuple[str, Any]] = [(f"tools[{index}]", tool) for index, tool in enumerate(tools or ())]
    messages = body.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        for place, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict) and block.get("type") == "tool_addition":
                definition = block["tool"].get("definition") if isinstance(block.get("tool"), dict) else None
                if isinstance(definition, dict):
                    declared.append((f"messages[{index}].content[{place}].tool.definition", definition))
    return declared


def _function(tool: Any, path: str) -> JsonObject | None:
    """The tool as a chat function, or None if only Anthropic's servers could run it."""
    if not isinstance(tool, dict):
        raise BadRequest("must be an object", path=path)
    kind, name = tool.get("type"), tool.get("name")
    if isinstance(tool.get("function"), dict) and isinstance(tool["function"].get("name"), str):
        return {"type": "function", "function": tool["function"]}  # already in the shape of chat
    schema, description = tool.get("input_schema"), tool.get("description")
    if schema is None and kind not in (None, "custom"):
        taught = _TAUGHT.get(str(kind).rsplit("_", 1)[0])
        if taught is None:
            return None
        description, schema = taught
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


def choice_fields(choice: Any, tools: list[JsonObject]) -> JsonObject:
    """The chat fields of `tool_choice`. A choice of a tool that was left out is a free choice."""
    if choice is None:
        return {}
    kind = choice.get("type") if isinstance(choice, dict) else choice
    fields: JsonObject = {}
    if kind in ("auto", "none"):
        fields["tool_choice"] = kind
    elif kind == "any":
        fields["tool_choice"] = "required"
    elif kind == "tool" and isinstance(choice, dict):
        name = choice.get("name")
        offered = any(tool["function"]["name"] == name for tool in tools)
        fields["tool_choice"] = {"type": "function", "function": {"name": name}} if offered else "auto"
    else:
        raise BadRequest("must be auto, any, tool or none", path="tool_choice.type")
    if isinstance(choice, dict) and choice.get("disable_parallel_tool_use"):
        fields["parallel_tool_calls"] = False
    return fields
