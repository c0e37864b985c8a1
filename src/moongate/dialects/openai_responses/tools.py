"""The tools of a Responses request → chat tools, and the mapping back for the calls of the answer.

A namespace is flattened (`multi_agent_v1` + `close_agent` → `multi_agent_v1__close_agent`), a custom (freeform)
tool becomes a function with one string, `input`; tools without a name that the client runs (`client_tools`) become
functions with a schema. Tools that run on OpenAI's servers are left out, with a note.

A tool that the client's tool search has loaded is offered from that position on. One that is still to be loaded
(`defer_loading`) is not offered.
"""

from __future__ import annotations

from typing import Final

from moongate.chat.contracts import Note
from moongate.dialects.openai_responses.client_tools import PREDEFINED, Kind, predefined_function, search_function
from moongate.dialects.openai_responses.declared_tools import (
    CalledTool,
    DeclaredTool,
    called_tools,
    declared_tools,
    flat_name,
    function_of,
)
from moongate.errors import BadRequest
from moongate.payload import JsonObject

_INPUT: Final[JsonObject] = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The whole input of the tool, as plain text."}},
    "required": ["input"],
    "additionalProperties": False,
}

_AT_ONCE: Final = -1  # instead of the item from which on a tool is offered

_CHOSEN: Final[tuple[Kind, ...]] = ("custom", "local_shell", "shell", "apply_patch", "tool_search")


class Toolbox:
    """The offered tools: as chat tools, and which chat name stands for which of the client's tools."""

    __slots__ = ("_numbers", "by_name", "loaded", "names", "tools")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # flat name → the highest number that was tried for it
        self.tools: list[JsonObject] = []
        self.loaded: dict[int, list[JsonObject]] = {}  # by the input item with which a tool search loaded them
        self.by_name: dict[str, CalledTool] = {}
        self.names: dict[CalledTool, str] = {}

    def add_name(self, called: CalledTool) -> str:
        """The chat name of a tool: its flat name, with a number if another tool has that already."""
        if called in self.names:
            return self.names[called]
        name = flat = flat_name(called.name, called.namespace)
        while name in self.by_name:
            self._numbers[flat] = number = self._numbers.get(flat, 1) + 1
            name = f"{flat}_{number}"
        self.by_name[name], self.names[called] = called, name
        return name

    def called(self, name: str, custom: bool = False) -> CalledTool:
        """The client's tool for the name in a call. One that the request does not know is of the call's own kind."""
        return self.by_name.get(name) or CalledTool("custom" if custom else "function", name)

    def name_of(self, name: str, namespace: object, kind: Kind = "function") -> str:
        """The chat name of a tool of the client, whether it is offered or not."""
        space = namespace if namespace and isinstance(namespace, str) else None
        called = self.by_name.get(name)
        if called is not None and called.name == name and called.kind == kind and called.namespace == space:
            return name  # as almost always
        return self.names.get(CalledTool(kind, name, space)) or flat_name(name, space)


def toolbox(body: JsonObject) -> Toolbox:
    """All tools of the request, including those in its input items."""
    box = Toolbox()
    declared = declared_tools(body)
    searches = any(each.called is not None and each.called.kind == "tool_search" for each in declared)
    # A tool that is called counts as loaded there: its loading was cut off, or the model knew its name from elsewhere.
    called_at = called_tools(body) if searches else {}
    placed: dict[
        CalledTool, tuple[int, DeclaredTool]
    ] = {}  # from which item on it is offered, _AT_ONCE: from the first
    for each in declared:
        if each.called is None:
            continue
        box.add_name(each.called)
        position = _AT_ONCE if each.loaded_at is None else each.loaded_at
        if searches and each.deferred:
            if each.called not in called_at:
                continue  # to be loaded
            position = called_at[each.called]
        if each.called not in placed or position < placed[each.called][0]:  # agents repeat their tools
            placed.pop(each.called, None)  # so that the order is that of the declarations that count
            placed[each.called] = position, each
    for called, (position, each) in placed.items():
        tools = box.tools if position == _AT_ONCE else box.loaded.setdefault(position, [])
        tools.append({"type": "function", "function": _function(each.tool, called, box.names[called])})
    return box


def left_out_tools(body: JsonObject) -> list[Note]:
    """One note per tool that cannot be served."""
    return [
        Note("parameter", each.path, before=each.tool.get("type"))
        for each in declared_tools(body)
        if each.called is None
    ]


def _function(tool: JsonObject, called: CalledTool, name: str) -> JsonObject:
    """The chat function for a tool, under its chat name."""
    if called.kind in PREDEFINED:
        return predefined_function(called.kind, name)
    if called.kind == "tool_search":
        return search_function(tool, name)
    if called.kind == "custom":
        return {**_described(name, tool), "parameters": _INPUT}
    return _described(name, function_of(tool))


def _described(name: str, tool: JsonObject) -> JsonObject:
    function: JsonObject = {"name": name}
    description = tool.get("description")
    grammar = tool["format"].get("definition") if isinstance(tool.get("format"), dict) else None
    if grammar and isinstance(grammar, str):
        description = f"{description or ''}\n\nThe input follows this grammar:\n{grammar}".lstrip()
    if description:
        function["description"] = description
    if tool.get("parameters") is not None:
        function["parameters"] = tool["parameters"]
    if isinstance(tool.get("strict"), bool):
        function["strict"] = tool["strict"]
    return function


def choice_fields(choice: object, box: Toolbox) -> JsonObject:
    """The chat fields for `tool_choice`, with `tools`. Forcing a tool that was left out becomes `auto`."""
    if not box.tools and not box.loaded:
        return {}
    fields: JsonObject = {"tools": box.tools} if box.tools else {}  # else all tools are inside messages
    if choice is None or isinstance(choice, str):
        if choice not in (None, "auto", "none", "required"):
            raise BadRequest("must be auto, none, required or a tool", path="tool_choice")
        return fields if choice is None else {**fields, "tool_choice": choice}
    if not isinstance(choice, dict):
        raise BadRequest("must be auto, none, required or a tool", path="tool_choice")
    if choice.get("type") == "allowed_tools":
        return _allowed(choice, box, fields)
    name = _chosen(choice, box)
    if name not in box.by_name:
        return {**fields, "tool_choice": "auto"}
    return {**fields, "tool_choice": {"type": "function", "function": {"name": name}}}


def _chosen(choice: JsonObject, box: Toolbox) -> str:
    """The chat name of the tool that a `tool_choice` identifies by type, name and namespace."""
    kind: Kind = next((each for each in _CHOSEN if each == choice.get("type")), "function")
    return box.name_of(str(choice.get("name") or choice.get("type")), choice.get("namespace"), kind)


def _allowed(choice: JsonObject, box: Toolbox, fields: JsonObject) -> JsonObject:
    """The chat fields for `allowed_tools`: only the listed tools are offered. All of them if none of these is."""
    listed = choice.get("tools")
    allowed = {_chosen(tool, box) for tool in (listed if isinstance(listed, list) else ()) if isinstance(tool, dict)}
    offered = [tool for tool in box.tools if tool["function"]["name"] in allowed]
    loaded = (tool["function"]["name"] for tools in box.loaded.values() for tool in tools)
    if not offered and allowed.isdisjoint(loaded):
        return {**fields, "tool_choice": "auto"}
    mode = "required" if choice.get("mode") == "required" else "auto"
    return {"tools": offered, "tool_choice": mode} if offered else {"tool_choice": mode}
