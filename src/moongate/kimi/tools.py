"""The tools of a request: what is offered, and how a host takes them (section 10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import is_
from typing import Any

from moongate.errors import BadRequest
from moongate.kimi.names import ToolNames
from moongate.kimi.notes import Notes
from moongate.kimi.offer import ToolKeys
from moongate.kimi.schema_cache import SchemaCache
from moongate.payload import JsonObject


class OfferedTools(Mapping[str, ToolKeys]):
    """The offered tools by name. They are looked at when somebody asks, which is rare."""

    __slots__ = ("_parameters", "_tools")

    def __init__(self, tools: list[Any]) -> None:
        self._tools = tools
        self._parameters: dict[str, Any] | None = None

    @property
    def _by_name(self) -> dict[str, Any]:
        if self._parameters is None:
            self._parameters = parameters_by_name(self._tools)
        return self._parameters

    def __bool__(self) -> bool:
        return any(_name_of(tool) for tool in self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> ToolKeys:
        parameters = self._by_name[name]
        if not isinstance(parameters, dict):
            return ToolKeys()
        properties, required = parameters.get("properties"), parameters.get("required")
        return ToolKeys(
            frozenset(properties) if isinstance(properties, dict) else frozenset(),
            frozenset(key for key in required if isinstance(key, str)) if isinstance(required, list) else frozenset(),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


def parameters_by_name(tools: list[Any]) -> dict[str, Any]:
    """The parameters of each tool that has a name, functions and built-in ones alike."""
    return {name: tool["function"].get("parameters") for tool in tools if (name := _name_of(tool))}


def _name_of(tool: Any) -> str:
    """The name of a tool, "" if it has none."""
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""


def is_function(tool: Any) -> bool:
    """Is it a function with a name, so that section 10 has something to say about it?"""
    if not isinstance(tool, dict) or (tool.get("type") or "function") != "function":
        return False
    function = tool.get("function")
    return isinstance(function, dict) and isinstance(function.get("name"), str) and function["name"] != ""


def chosen_name(choice: Any) -> str:
    """The function that `tool_choice` names, "" if it names none."""
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""


def write_tools(body: JsonObject, names: ToolNames, cache: SchemaCache, notes: Notes) -> JsonObject:
    """The request with names and schemas that the host takes, in `tools` and `tool_choice`; the same object if it
    takes them as they are."""
    tools = body.get("tools")
    if isinstance(tools, list):
        written = [
            _write_tool(tool, at, names, cache, notes) if is_function(tool) else tool for at, tool in enumerate(tools)
        ]
        if not all(map(is_, written, tools)):
            body = {**body, "tools": written}
    choice: Any = body.get("tool_choice")
    if names.renamed and (name := chosen_name(choice)) in names.renamed:
        notes.add("tool_name", "tool_choice.function.name", name, names.sent(name))
        function = {**choice["function"], "name": names.sent(name)}
        body = {**body, "tool_choice": {**choice, "function": function}}
    return body


def _write_tool(tool: JsonObject, at: int, names: ToolNames, cache: SchemaCache, notes: Notes) -> JsonObject:
    function = tool["function"]
    name, parameters = function["name"], function.get("parameters")
    sent, schema = names.sent(name), parameters
    if isinstance(parameters, dict) or parameters in (None, True, []):  # anything else is the provider's to refuse
        try:
            schema = cache.normalise({} if parameters is None else parameters, tool=name)
        except BadRequest as error:
            raise BadRequest(error.message, path=f"tools[{at}].function.{error.path}") from None
    if sent == name and schema is parameters:
        return tool
    if sent != name:
        notes.add("tool_name", f"tools[{at}].function.name", name, sent)
        function = {**function, "name": sent}
    if schema is not parameters:
        notes.add("schema", f"tools[{at}].function.parameters", parameters, schema)
        function = {**function, "parameters": schema}
    return {**tool, "function": function}
