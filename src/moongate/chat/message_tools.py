"""Tools that are declared inside messages (`messages[].tools`): seen by the model from that position on.

Few models take them. For the others they move to the top-level `tools`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from moongate.payload import JsonObject

_NO_CONTENT: Final[tuple[object, ...]] = (None, "", [])


@dataclass(frozen=True, slots=True)
class MovedTools:
    """What is left after the tools inside messages were moved to the top."""

    tools: list[object]  # the top-level ones
    messages: list[JsonObject]  # each at its old position
    removed: frozenset[int]  # positions of messages in which nothing else was


def offers_tools(request: JsonObject) -> bool:
    """Whether the request offers tools to the model, at the top or inside a message."""
    if request.get("tools"):
        return True
    messages = request.get("messages")
    if isinstance(messages, list):
        for each in messages:
            if type(each) is dict and each.get("tools"):
                return True
    return False


def tools_of(messages: list[JsonObject], positions: Iterable[int]) -> list[object]:
    """The tools of the messages at these positions, in order."""
    return [tool for at in positions for tool in messages[at]["tools"]]


def named_body(tool: object) -> JsonObject | None:
    """The member of a tool that has its name: `function`, or `custom` of a custom tool. None: it has no name."""
    if not isinstance(tool, dict):
        return None
    body = tool.get("function", tool.get("custom"))
    name = body.get("name") if isinstance(body, dict) else None
    return body if isinstance(name, str) and name else None


def move_to_top(messages: list[JsonObject], positions: Iterable[int], tools: list[object]) -> MovedTools:
    """The tools inside messages as top-level ones behind `tools`. The first declaration of a name counts."""
    written, removed, top = list(messages), set(), list(tools)
    bodies = map(named_body, tools)
    declared = {body["name"] for body in bodies if body is not None}
    for at in positions:
        for tool in messages[at]["tools"]:
            body = named_body(tool)
            if body is None or body["name"] not in declared:
                top.append(tool)
            if body is not None:
                declared.add(body["name"])
        written[at] = {key: value for key, value in messages[at].items() if key != "tools"}
        if _is_only_tools(written[at]):
            removed.add(at)
    return MovedTools(top, written, frozenset(removed))


def _is_only_tools(message: JsonObject) -> bool:
    """Whether nothing is in this message, whose tools were moved."""
    return message.get("content") in _NO_CONTENT and not message.keys() - {"role", "content", "name"}


def with_tools_at_top(request: JsonObject) -> JsonObject:
    """The chat request without tools inside its messages; the same object if there are none."""
    messages: list[JsonObject] = request["messages"]
    positions = [at for at, message in enumerate(messages) if "tools" in message]
    if not positions:
        return request
    moved = move_to_top(messages, positions, request.get("tools") or [])
    kept = [message for at, message in enumerate(moved.messages) if at not in moved.removed]
    written = {**request, "messages": kept}
    return {**written, "tools": moved.tools} if moved.tools else written
