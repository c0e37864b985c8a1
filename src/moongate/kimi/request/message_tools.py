"""Tools that are offered inside messages (dynamic tools, section 9), as a host that checks them accepts them.

K3 takes them in system messages without content, and sees them from that position on. K2 refuses them at such a host:
there they move to the top-level `tools` (`chat.message_tools`).
"""

from __future__ import annotations

from moongate.kimi.notes import Notes
from moongate.kimi.request.schema_writer import SchemaWriter
from moongate.kimi.request.tool_names import ToolNames
from moongate.kimi.request.tools import write_tool_list
from moongate.payload import JsonObject


def without_empty_content(messages: list[JsonObject], positions: list[int], notes: Notes) -> list[JsonObject]:
    """The messages with tools without an empty `content` beside them, and from `system` instead of `developer`."""
    written = list(messages)
    for at in positions:
        message = messages[at]
        if "content" in message and message["content"] in (None, ""):
            notes.add("history_message", f"messages[{at}].content", message["content"])
            message = {key: value for key, value in message.items() if key != "content"}
        if message.get("role") == "developer":
            notes.add("history_message", f"messages[{at}].role", "developer", "system")
            message = {**message, "role": "system"}
        written[at] = message
    return written


def write_message_tools(
    messages: list[JsonObject], positions: list[int], names: ToolNames, schemas: SchemaWriter | None, notes: Notes
) -> list[JsonObject]:
    """The messages with names and schemas that the host accepts in their tools (section 10)."""
    written = list(messages)
    for at in positions:
        message = messages[at]
        tools = write_tool_list(message["tools"], f"messages[{at}].tools", names, schemas, notes)
        if tools is not message["tools"]:
            written[at] = {**message, "tools": tools}
    return written
