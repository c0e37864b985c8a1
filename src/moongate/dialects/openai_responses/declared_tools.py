"""The declarations of tools in a Responses request: in `tools`, in namespaces, and in input items."""

from __future__ import annotations

from typing import Final, NamedTuple

from moongate.dialects.openai_responses.client_tools import Kind, runs_on_client
from moongate.errors import BadRequest
from moongate.payload import JsonObject

MAX_NAMESPACE: Final = 256  # characters: the name of a namespace is sent with each of its tools


class CalledTool:
    """A tool as the client identifies it."""

    __slots__ = ("kind", "name", "namespace")

    def __init__(self, kind: Kind, name: str, namespace: str | None = None) -> None:
        self.kind: Kind = kind
        self.name = name
        self.namespace = namespace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CalledTool) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Kind, str, str | None]:
        return self.kind, self.name, self.namespace


class DeclaredTool(NamedTuple):
    """One declaration of a tool."""

    path: str
    tool: JsonObject
    called: CalledTool | None  # None: it cannot be served
    deferred: bool = False  # to be loaded by a tool search
    loaded_at: int | None = None  # the item with which a tool search loaded it


def flat_name(name: str, namespace: str | None) -> str:
    """The chat name of a tool: its namespace is a prefix."""
    if namespace is None:
        return name
    return f"{namespace}{name}" if namespace.endswith("__") else f"{namespace}__{name}"


def called_tools(body: JsonObject) -> dict[CalledTool, int]:
    """The functions and custom tools that were called in the history, each with the first item that calls it."""
    items = body.get("input")
    kinds: dict[object, Kind] = {"function_call": "function", "custom_tool_call": "custom"}
    found: dict[CalledTool, int] = {}
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and item.get("type") in ("function_call", "custom_tool_call"):
            namespace = item.get("namespace")
            space = namespace if namespace and isinstance(namespace, str) else None
            found.setdefault(CalledTool(kinds[item["type"]], str(item.get("name")), space), index)
    return found


def declared_tools(body: JsonObject) -> list[DeclaredTool]:
    """Every tool of the request."""
    declared: list[DeclaredTool] = []
    _read_tools(body.get("tools"), "tools", declared)
    items = body.get("input")
    if isinstance(items, list):
        for index, item in enumerate(items):
            if not isinstance(item, dict):
                continue
            if item.get("type") == "additional_tools":
                _read_tools(item.get("tools"), f"input[{index}].tools", declared)
            elif item.get("type") == "tool_search_output":
                _read_tools(item.get("tools"), f"input[{index}].tools", declared, index)
    return declared


def _read_tools(tools: object, path: str, declared: list[DeclaredTool], loaded_at: int | None = None) -> None:
    """Append the tools of a list to `declared`. Of nested namespaces the outermost counts.

    A stack instead of recursion: compiled code has no recursion limit, and the client controls the depth.
    """
    stack = _entries(tools, path, None, False)
    while stack:
        tool_path, tool, namespace, deferred = stack.pop()
        if not isinstance(tool, dict):
            raise BadRequest("must be an object", path=tool_path)
        deferred = deferred or (loaded_at is None and tool.get("defer_loading") is True)
        if tool.get("type") == "namespace":
            name = _name(tool, tool_path)
            if len(name) > MAX_NAMESPACE:
                raise BadRequest(f"must have at most {MAX_NAMESPACE} characters", path=f"{tool_path}.name")
            stack += _entries(tool.get("tools"), f"{tool_path}.tools", namespace or name, deferred)
        else:
            called = _called(tool, namespace, tool_path)
            declared.append(DeclaredTool(tool_path, tool, called, deferred, loaded_at))


def _entries(
    tools: object, path: str, namespace: str | None, deferred: bool
) -> list[tuple[str, object, str | None, bool]]:
    """The entries of a list of tools with their paths, in reverse order for a stack."""
    if tools is None:
        return []
    if not isinstance(tools, list):
        raise BadRequest("must be a list of tools", path=path)
    return [(f"{path}[{index}]", tools[index], namespace, deferred) for index in range(len(tools) - 1, -1, -1)]


def _name(tool: JsonObject, path: str) -> str:
    name = tool.get("name")
    if not name or not isinstance(name, str):
        raise BadRequest("must be the name of the tool", path=f"{path}.name")
    return name


def _called(tool: JsonObject, namespace: str | None, path: str) -> CalledTool | None:
    """The identity of a tool, or None if only OpenAI's servers can run it."""
    kind = tool.get("type")
    if kind is None or kind == "function":
        return CalledTool("function", _name(function_of(tool), path), namespace)
    if kind == "custom":
        return CalledTool("custom", _name(tool, path), namespace)
    served = runs_on_client(tool)
    return None if served is None else CalledTool(served, served)


def function_of(tool: JsonObject) -> JsonObject:
    """The object that describes a function: the tool itself, or its member `function` in chat's format."""
    function = tool.get("function")
    return function if isinstance(function, dict) else tool


def tool_names(tools: object) -> list[str]:
    """The names of the tools of a (valid) list, those of a namespace with its name in front."""
    declared: list[DeclaredTool] = []
    _read_tools(tools, "tools", declared)
    return [flat_name(each.called.name, each.called.namespace) for each in declared if each.called is not None]
