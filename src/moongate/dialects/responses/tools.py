"""The tools of a Responses request → chat tools, and the way back for the calls of the answer.

A namespace is flattened (`multi_agent_v1` + `close_agent` → `multi_agent_v1__close_agent`), a custom (freeform)
tool becomes a function with one text, `input`, the local shell a function with its action. Tools that OpenAI's own
servers run are left out, with a note.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from moongate.chat.contracts import Note
from moongate.errors import BadRequest
from moongate.payload import JsonObject

_INPUT: Final[JsonObject] = {
    "type": "object",
    "properties": {"input": {"type": "string", "description": "The whole input of the tool, as plain text."}},
    "required": ["input"],
    "additionalProperties": False,
}
_SHELL: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "command": {"type": "array", "items": {"type": "string"}, "description": "The program and its arguments."},
        "working_directory": {"type": "string"},
        "timeout_ms": {"type": "integer"},
    },
    "required": ["command"],
}

Kind = Literal["function", "custom", "local_shell", "tool_search"]


class Called:
    """What the client knows a tool as."""

    __slots__ = ("kind", "name", "namespace")

    def __init__(self, kind: Kind, name: str, namespace: str | None = None) -> None:
        self.kind: Kind = kind
        self.name = name
        self.namespace = namespace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Called) and self._known_as() == other._known_as()

    def __hash__(self) -> int:
        return hash(self._known_as())

    def _known_as(self) -> tuple[Kind, str, str | None]:
        return self.kind, self.name, self.namespace


class Toolbox:
    """The offered tools: as chat tools, and who is meant by each chat name."""

    __slots__ = ("meant", "shown", "tools")

    def __init__(self, tools: tuple[JsonObject, ...], meant: dict[str, Called], shown: dict[Called, str]) -> None:
        self.tools = tools
        self.meant = meant
        self.shown = shown

    def called(self, name: str) -> Called:
        """The client's tool behind the name that the model used."""
        return self.meant.get(name) or Called("function", name)

    def name_of(self, name: str, namespace: Any, kind: Kind = "function") -> str:
        """The name that the model knows the client's tool by, offered or not."""
        space = namespace if namespace and isinstance(namespace, str) else None
        return self.shown.get(Called(kind, name, space)) or flat_name(name, space)


def flat_name(name: str, namespace: str | None) -> str:
    """A tool's name for the model: a namespace goes in front."""
    if namespace is None:
        return name
    return f"{namespace}{name}" if namespace.endswith("__") else f"{namespace}__{name}"


def toolbox(body: JsonObject) -> Toolbox:
    """All tools of the request, those that its input brings along included."""
    tools: list[JsonObject] = []
    meant: dict[str, Called] = {}
    shown: dict[Called, str] = {}
    for _, tool, called in _declared(body):
        if called is None or called in shown:  # agents repeat their tools: the first counts
            continue
        name = flat = flat_name(called.name, called.namespace)
        count = 1
        while name in meant:  # a flattened name that another tool has already
            count += 1
            name = f"{flat}_{count}"
        meant[name], shown[called] = called, name
        tools.append({"type": "function", "function": _function(tool, called, name)})
    return Toolbox(tuple(tools), meant, shown)


def left_out_tools(body: JsonObject) -> list[Note]:
    """One note per tool that cannot be served."""
    return [
        Note("parameter", path, before=tool.get("type")) for path, tool, called in _declared(body) if called is None
    ]


def _declared(body: JsonObject) -> list[tuple[str, JsonObject, Called | None]]:
    """Every tool of the request: its path, and who is meant by it, None if it cannot be served."""
    declared: list[tuple[str, JsonObject, Called | None]] = []
    _read_tools(body.get("tools"), "tools", declared)
    items = body.get("input")
    if isinstance(items, list):
        for index, item in enumerate(items):
            if isinstance(item, dict) and item.get("type") in ("additional_tools", "tool_search_output"):
                _read_tools(item.get("tools"), f"input[{index}].tools", declared)
    return declared


def _read_tools(tools: Any, path: str, declared: list[tuple[str, JsonObject, Called | None]]) -> None:
    """Of namespaces in one another the outermost counts.

    No recursion: compiled code knows no limit of it, and namespaces may be nested as deep as the client likes.
    """
    waiting = _placed(tools, path, None)
    while waiting:
        place, tool, namespace = waiting.pop()
        if not isinstance(tool, dict):
            raise BadRequest("must be an object", path=place)
        if tool.get("type") == "namespace":
            name = _name(tool, place)
            waiting += _placed(tool.get("tools"), f"{place}.tools", namespace or name)
        else:
            declared.append((place, tool, _called(tool, namespace, place)))


def _placed(tools: Any, path: str, namespace: str | None) -> list[tuple[str, Any, str | None]]:
    """The entries of a list of tools, the first one last."""
    if tools is None:
        return []
    if not isinstance(tools, list):
        raise BadRequest("must be a list of tools", path=path)
    return [(f"{path}[{index}]", tools[index], namespace) for index in range(len(tools) - 1, -1, -1)]


def _name(tool: JsonObject, path: str) -> str:
    name = tool.get("name")
    if not name or not isinstance(name, str):
        raise BadRequest("must be the name of the tool", path=f"{path}.name")
    return name


def _called(tool: JsonObject, namespace: str | None, path: str) -> Called | None:
    """Who is meant by a tool, or None for one that only OpenAI's servers could run."""
    kind = tool.get("type")
    if kind is None or kind == "function":
        return Called("function", _name(_inner(tool), path), namespace)
    if kind == "custom":
        return Called("custom", _name(tool, path), namespace)
    if kind == "local_shell":
        return Called("local_shell", "local_shell")
    if kind == "tool_search" and tool.get("execution") == "client":
        return Called("tool_search", "tool_search")
    return None


def _inner(tool: JsonObject) -> JsonObject:
    """Where a function describes itself: chat's shape is understood as well."""
    function = tool.get("function")
    return function if isinstance(function, dict) else tool


def _function(tool: JsonObject, called: Called, name: str) -> JsonObject:
    """The chat function for a tool, under the name that the model knows it by."""
    if called.kind == "local_shell":
        return {"name": name, "description": "Runs a command on the user's machine.", "parameters": _SHELL}
    if called.kind == "custom":
        return {**_described(name, tool), "parameters": _INPUT}
    return _described(name, _inner(tool) if called.kind == "function" else tool)


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


def choice_fields(choice: Any, box: Toolbox) -> JsonObject:
    """The chat fields of `tool_choice`, `tools` included. A choice of a tool that was left out is a free choice."""
    tools = list(box.tools)
    if not tools:
        return {}
    if choice is None or isinstance(choice, str):
        if choice not in (None, "auto", "none", "required"):
            raise BadRequest("must be auto, none, required or a tool", path="tool_choice")
        return {"tools": tools} if choice is None else {"tools": tools, "tool_choice": choice}
    if not isinstance(choice, dict):
        raise BadRequest("must be auto, none, required or a tool", path="tool_choice")
    if choice.get("type") == "allowed_tools":
        return _allowed(choice, box)
    name = _chosen(choice, box)
    if name not in box.meant:
        return {"tools": tools, "tool_choice": "auto"}
    return {"tools": tools, "tool_choice": {"type": "function", "function": {"name": name}}}


def _chosen(choice: JsonObject, box: Toolbox) -> str:
    """The model's name for a tool that the client names by its type, its name and its namespace."""
    kind: Kind = "custom" if choice.get("type") == "custom" else "function"
    return box.name_of(str(choice.get("name") or choice.get("type")), choice.get("namespace"), kind)


def _allowed(choice: JsonObject, box: Toolbox) -> JsonObject:
    """Only some of the tools are offered this time."""
    listed = choice.get("tools")
    allowed = {_chosen(tool, box) for tool in (listed if isinstance(listed, list) else ()) if isinstance(tool, dict)}
    offered = [tool for tool in box.tools if tool["function"]["name"] in allowed]
    mode = "required" if choice.get("mode") == "required" and offered else "auto"
    return {"tools": offered or list(box.tools), "tool_choice": mode}
