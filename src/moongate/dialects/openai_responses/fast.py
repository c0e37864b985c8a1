"""The tools of a Responses request as chat tools: translated once for tools that are known."""

from __future__ import annotations

from typing import Any

from moongate.chat.contracts import Note
from moongate.chat.fast import KnownTools, remembered
from moongate.dialects.openai_responses.tools import Toolbox, left_out_tools, toolbox
from moongate.payload import JsonObject, dumps


def toolbox_once(body: JsonObject) -> Toolbox:
    """`toolbox`, which depends on the tools alone where no item declares one and none is searched for."""
    tools = body.get("tools")
    if not isinstance(tools, KnownTools) or _declares_tools(body) or not remembered(_box, tools).fixed:
        return toolbox(body)
    return remembered(_box, tools).box


def left_out_once(body: JsonObject) -> list[Note]:
    """The same for `left_out_tools`."""
    tools = body.get("tools")
    if not isinstance(tools, KnownTools) or _declares_tools(body):
        return left_out_tools(body)
    return [*remembered(_left_out, tools)]


class _KnownBox:
    """The box of known tools, and whether it is the same whatever the input is."""

    def __init__(self, box: Toolbox) -> None:
        self.fixed = all(called.kind != "tool_search" for called in box.names)
        box.tools = KnownTools(dumps(box.tools), box.tools)
        self.box = box


def _declares_tools(body: JsonObject) -> bool:
    items = body.get("input")
    if not isinstance(items, list):
        return False
    return any(isinstance(item, dict) and "tools" in item for item in items)  # as those that declare some have


def _box(tools: list[Any]) -> _KnownBox:
    return _KnownBox(toolbox({"tools": tools}))


def _left_out(tools: list[Any]) -> list[Note]:
    return left_out_tools({"tools": tools})
