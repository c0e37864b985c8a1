"""Anthropic's tools as chat tools: translated once for tools that are known."""

from __future__ import annotations

from typing import Any

from moongate.chat.contracts import Note
from moongate.chat.fast import KnownTools, remembered
from moongate.dialects.anthropic_messages.offered_tools import LoadedTools, offered_tools
from moongate.dialects.anthropic_messages.tools import left_out_tools
from moongate.payload import JsonObject, dumps


def offered_once(body: JsonObject) -> LoadedTools:
    """`offered_tools`, which depends on the tools alone where no message loads or adds one."""
    tools = body.get("tools")
    if not isinstance(tools, KnownTools) or remembered(_some_wait, tools) or _adds_tools(body):
        return offered_tools(body)
    return remembered(_offered, tools)


def left_out_once(body: JsonObject) -> list[Note]:
    """The same for `left_out_tools`."""
    tools = body.get("tools")
    if not isinstance(tools, KnownTools) or _adds_tools(body):
        return left_out_tools(body)
    return [*remembered(_left_out, tools)]


def _some_wait(tools: list[Any]) -> bool:
    return any(isinstance(tool, dict) and "defer_loading" in tool for tool in tools)


def _adds_tools(body: JsonObject) -> bool:
    messages = body.get("messages")
    if not isinstance(messages, list):
        return False
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            for block in content:
                if isinstance(block, dict) and "tool" in block:  # as those that add one have
                    return True
    return False


def _offered(tools: list[Any]) -> LoadedTools:
    found = offered_tools({"tools": tools})
    found.tools = KnownTools(dumps(found.tools), found.tools)
    return found


def _left_out(tools: list[Any]) -> list[Note]:
    return left_out_tools({"tools": tools})
