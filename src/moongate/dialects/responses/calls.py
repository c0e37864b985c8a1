"""A call of the answer → the output item that the client expects for the tool."""

from __future__ import annotations

from typing import Final

from moongate.dialects.responses.tools import Called, Kind
from moongate.payload import JsonObject, object_of

PREFIX: Final[dict[Kind, str]] = {"function": "fc", "custom": "ctc", "local_shell": "lsh", "tool_search": "tsc"}
_TYPE: Final[dict[Kind, str]] = {
    "function": "function_call",
    "custom": "custom_tool_call",
    "local_shell": "local_shell_call",
    "tool_search": "tool_search_call",
}


def call_item(called: Called, item_id: str, call_id: str, arguments: str) -> JsonObject:
    """The item, without its status."""
    item: JsonObject = {"id": item_id, "type": _TYPE[called.kind], "call_id": call_id}
    if called.kind == "local_shell":
        item["action"] = {"type": "exec", "command": [], "env": {}, **(object_of(arguments) or {})}
        return item
    if called.kind == "tool_search":
        item.update(execution="client", arguments=object_of(arguments) or {})
        return item
    item["name"] = called.name
    if called.namespace is not None:
        item["namespace"] = called.namespace
    if called.kind == "custom":
        item["input"] = freeform(arguments)
    else:
        item["arguments"] = arguments
    return item


def freeform(arguments: str) -> str:
    """The text for a custom tool: the `input` of the arguments, or all of them where the model forgot the wrapping."""
    text = (object_of(arguments) or {}).get("input")
    return text if isinstance(text, str) else arguments
