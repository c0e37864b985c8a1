"""A call of the model → the output item that the client expects for this kind of tool."""

from __future__ import annotations

from typing import Final

from moongate.dialects.openai_responses.client_tools import Kind, call_members
from moongate.dialects.openai_responses.declared_tools import CalledTool
from moongate.payload import JsonObject, object_of

PREFIX: Final[dict[Kind, str]] = {
    "function": "fc",
    "custom": "ctc",
    "local_shell": "lsh",
    "shell": "sh",
    "apply_patch": "apc",
    "tool_search": "tsc",
}
_TYPE: Final[dict[Kind, str]] = {
    "function": "function_call",
    "custom": "custom_tool_call",
    "local_shell": "local_shell_call",
    "shell": "shell_call",
    "apply_patch": "apply_patch_call",
    "tool_search": "tool_search_call",
}


def call_item(called: CalledTool, item_id: str, call_id: str, arguments: str) -> JsonObject:
    """The item, without its status."""
    item: JsonObject = {"id": item_id, "type": _TYPE[called.kind], "call_id": call_id}
    if called.kind not in ("function", "custom"):
        return {**item, **call_members(called.kind, arguments)}
    item["name"] = called.name
    if called.namespace is not None:
        item["namespace"] = called.namespace
    if called.kind == "custom":
        item["input"] = freeform(arguments)
    else:
        item["arguments"] = arguments
    return item


def item_status(called: CalledTool, cut: bool) -> str:
    """The status of a whole item. OpenAI's patches know no `incomplete` one: one that was cut stays in progress."""
    if cut:
        return "in_progress" if called.kind == "apply_patch" else "incomplete"
    return "completed"


def freeform(arguments: str) -> str:
    """The text for a custom tool: the member `input` of the arguments, or all of them if there is no such member."""
    text = (object_of(arguments) or {}).get("input")
    return text if isinstance(text, str) else arguments
