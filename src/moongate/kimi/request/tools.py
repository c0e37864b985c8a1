"""The tools of a request: what is offered, and the form that a host accepts (section 10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import is_
from typing import Any, NamedTuple, TypeGuard

from moongate.chat.message_tools import named_body
from moongate.kimi.notes import Notes
from moongate.kimi.request.fast import write_once
from moongate.kimi.request.schema_writer import SchemaWriter
from moongate.kimi.request.tool_names import ToolNames
from moongate.kimi.tool_set import ToolKeys
from moongate.payload import JsonObject


class OfferedTools(Mapping[str, ToolKeys]):
    """The offered tools by name. They are read on first use, which is rare."""

    __slots__ = ("_parameters", "_tools")

    def __init__(self, tools: Sequence[object]) -> None:
        self._tools = tools
        self._parameters: dict[str, object] | None = None

    @property
    def parameters(self) -> dict[str, object]:
        """The client's own schema of each tool."""
        if self._parameters is None:
            self._parameters = parameters_by_name(self._tools)
        return self._parameters

    def __bool__(self) -> bool:
        return any(named_body(tool) is not None for tool in self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self.parameters

    def __getitem__(self, name: str) -> ToolKeys:
        parameters = self.parameters[name]
        if not isinstance(parameters, dict):
            return ToolKeys()
        properties, required = parameters.get("properties"), parameters.get("required")
        return ToolKeys(
            frozenset(properties) if isinstance(properties, dict) else frozenset(),
            frozenset(key for key in required if isinstance(key, str)) if isinstance(required, list) else frozenset(),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)


def parameters_by_name(tools: Sequence[object]) -> dict[str, object]:
    """The parameters of each tool that has a name: functions, built-in and custom ones alike."""
    bodies = map(named_body, tools)
    return {body["name"]: body.get("parameters") for body in bodies if body is not None}


class FunctionNames(NamedTuple):
    """The tools of a list to which section 10 applies, by name, and all others."""

    functions: list[str]
    others: list[object]


def function_names(tools: list[Any]) -> FunctionNames:
    """Pure: it is remembered for tools that are known."""
    functions = [tool["function"]["name"] for tool in tools if is_function_tool(tool)]
    return FunctionNames(functions, [tool for tool in tools if not is_function_tool(tool)])


def is_function_tool(tool: object) -> TypeGuard[JsonObject]:
    """Whether it is a function with a name, to which section 10 applies."""
    if not isinstance(tool, dict) or (tool.get("type") or "function") != "function":
        return False
    return _named_function(tool) is not None


def chosen_function(choice: object) -> str:
    """The function that `tool_choice` names, "" if it names none."""
    function = _named_function(choice)
    return "" if function is None else str(function["name"])


def requires_call(choice: object) -> bool:
    """Whether `tool_choice` demands a call: any (`required`), or a named one."""
    if not isinstance(choice, dict):
        return choice == "required"
    allowed = choice.get("allowed_tools")
    if isinstance(allowed, dict):
        return allowed.get("mode") == "required"
    return named_body(choice) is not None


def _named_function(tool: object) -> JsonObject | None:
    """The member `function` of a tool or a tool choice, None if it has no name."""
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return function if isinstance(name, str) and name else None


def write_tools(body: JsonObject, names: ToolNames, schemas: SchemaWriter | None, notes: Notes) -> JsonObject:
    """The request with names and schemas that the host accepts, in `tools` and `tool_choice`; the same object if
    nothing changes."""
    tools = body.get("tools")
    if isinstance(tools, list):
        once = None if names.renamed else schemas  # other names may be those of another request's history
        written = write_once(tools, once, notes, lambda: write_tool_list(tools, "tools", names, schemas, notes))
        if written is not tools:
            body = {**body, "tools": written}
    choice = body.get("tool_choice")
    if names.renamed and isinstance(choice, dict):
        written_choice = _write_choice(choice, names, notes)
        if written_choice is not choice:
            body = {**body, "tool_choice": written_choice}
    return body


def _write_choice(choice: JsonObject, names: ToolNames, notes: Notes) -> JsonObject:
    """The function that `tool_choice` names, or those that it allows, under the names that are sent."""
    named: JsonObject = _renamed(choice, "tool_choice", names, notes)
    allowed = choice.get("allowed_tools")
    tools = allowed.get("tools") if isinstance(allowed, dict) else None
    if named is not choice or not isinstance(tools, list):
        return named
    listed = [_renamed(tool, f"tool_choice.allowed_tools.tools[{at}]", names, notes) for at, tool in enumerate(tools)]
    if all(map(is_, listed, tools)):
        return choice
    return {**choice, "allowed_tools": {**choice["allowed_tools"], "tools": listed}}


def _renamed(tool: Any, path: str, names: ToolNames, notes: Notes) -> Any:
    """What names a function at `path`, under the name that is sent; the same object if that is its own."""
    name = chosen_function(tool)
    if name not in names.renamed:
        return tool
    notes.add("tool_name", f"{path}.function.name", name, names.sent(name))
    return {**tool, "function": {**tool["function"], "name": names.sent(name)}}


def write_tool_list(
    tools: list[object], path: str, names: ToolNames, schemas: SchemaWriter | None, notes: Notes
) -> list[object]:
    """The tools at `path` with names and schemas that the host accepts; the same list if nothing changes."""
    written = [
        _write_tool(tool, f"{path}[{at}].function", names, schemas, notes) if is_function_tool(tool) else tool
        for at, tool in enumerate(tools)
    ]
    return tools if all(map(is_, written, tools)) else written


def _write_tool(
    tool: JsonObject, path: str, names: ToolNames, schemas: SchemaWriter | None, notes: Notes
) -> JsonObject:
    function = tool["function"]
    name, parameters = function["name"], function.get("parameters")
    sent = names.sent(name)
    if sent != name:
        notes.add("tool_name", f"{path}.name", name, sent)
        function = {**function, "name": sent}
    schema = parameters if schemas is None else schemas.write(parameters, name, f"{path}.parameters")
    if schema is not parameters:
        function = {**function, "parameters": schema}
    return tool if function is tool["function"] else {**tool, "function": function}
