"""Tools that the client runs and that have no schema in the request, because OpenAI's models are trained on them.

Other models need a description and a schema. Which of them are here, and their items, follows OpenAI's API.
"""

from __future__ import annotations

from typing import Final, Literal

from moongate.payload import JsonObject, object_of

Kind = Literal["function", "custom", "local_shell", "shell", "apply_patch", "tool_search"]

_OPERATIONS: Final = ("create_file", "update_file", "delete_file")

_LOCAL_SHELL: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "command": {"type": "array", "items": {"type": "string"}, "description": "The program and its arguments."},
        "working_directory": {"type": "string"},
        "timeout_ms": {"type": "integer"},
    },
    "required": ["command"],
}
_SHELL: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "commands": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Command lines, which the shell runs in this order.",
        },
        "timeout_ms": {"type": "integer", "description": "For all commands together."},
        "max_output_length": {"type": "integer", "description": "Characters of output of each command."},
    },
    "required": ["commands"],
}
_APPLY_PATCH: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": list(_OPERATIONS)},
        "path": {"type": "string", "description": "The file, relative to the workspace."},
        "diff": {
            "type": "string",
            "description": "create_file: every line of the file with + in front. update_file: hunks, each a line that "
            "begins with @@ and names the place, then lines with a blank (context), - (removed) or + (added) in front. "
            "No line numbers, no file headers.",
        },
    },
    "required": ["type", "path"],
}

PREDEFINED: Final[dict[Kind, tuple[str, JsonObject]]] = {
    "local_shell": ("Runs a command on the user's machine.", _LOCAL_SHELL),
    "shell": ("Runs commands in a shell on the user's machine.", _SHELL),
    "apply_patch": ("Creates, changes or deletes one file.", _APPLY_PATCH),
}
_SEARCH: Final[JsonObject] = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What the tool should do."}},
    "required": ["query"],
}


def predefined_function(kind: Kind, name: str) -> JsonObject:
    """The chat function for a tool of this kind."""
    description, parameters = PREDEFINED[kind]
    return {"name": name, "description": description, "parameters": parameters}


def search_function(tool: JsonObject, name: str) -> JsonObject:
    """The chat function for the client's tool search, which may have a description and a schema of its own."""
    description, parameters = tool.get("description"), tool.get("parameters")
    return {
        "name": name,
        "description": description if description and isinstance(description, str) else "Finds and loads tools.",
        "parameters": parameters if isinstance(parameters, dict) else _SEARCH,
    }


def runs_on_client(tool: JsonObject) -> Kind | None:
    """The kind of a tool without a name that the client runs; None if only OpenAI's servers can run it."""
    kind = tool.get("type")
    if kind in ("local_shell", "apply_patch"):
        return "local_shell" if kind == "local_shell" else "apply_patch"
    if kind == "shell":
        environment = tool.get("environment")
        place = environment.get("type") if isinstance(environment, dict) else "local"
        return "shell" if place == "local" else None  # else a container of OpenAI's
    return "tool_search" if kind == "tool_search" and tool.get("execution") == "client" else None


def call_members(kind: Kind, arguments: str) -> JsonObject:
    """The members of a call item that hold the model's arguments, for a tool without a name.

    What the client would run has to have the right form: a text where a list of commands belongs is one command.
    """
    given = object_of(arguments) or {}
    if kind == "local_shell":
        return {"action": _local_action(given)}
    if kind == "shell":
        commands = given.get("commands", given.get("command"))
        limits = {name: _count(given.get(name)) for name in ("timeout_ms", "max_output_length")}
        return {"action": {"commands": _texts(commands), **limits}}
    if kind == "apply_patch":
        return {"operation": _operation(given, arguments)}
    return {"execution": "client", "arguments": given}


def _local_action(given: JsonObject) -> JsonObject:
    """What the local shell runs. Members of another type are left out: clients with types would refuse the item."""
    environment = given.get("env")
    texts = environment.items() if isinstance(environment, dict) else ()
    action: JsonObject = {"type": "exec", "command": _command(given.get("command"))}
    action["env"] = {name: value for name, value in texts if isinstance(value, str)}
    members = (("working_directory", str), ("user", str), ("timeout_ms", int))
    return action | {name: given[name] for name, kind in members if type(given.get(name)) is kind}


def _command(value: object) -> list[str]:
    """The program and its arguments; a text is a line for the shell."""
    if isinstance(value, str):
        return ["bash", "-lc", value] if value else []
    return _texts(value)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [each if isinstance(each, str) else str(each) for each in value] if isinstance(value, list) else []


def _count(value: object) -> int | None:
    return value if type(value) is int else None


def _operation(given: JsonObject, arguments: str) -> JsonObject:
    """What happens to which file. Models also write it under `operation`, as OpenAI's items have it."""
    inner = given.get("operation")
    given = inner if isinstance(inner, dict) else given
    kind, path, diff = given.get("type"), given.get("path"), given.get("diff")
    operation: JsonObject = {
        "type": kind if kind in _OPERATIONS else "update_file",
        "path": path if isinstance(path, str) else "",
    }
    if kind != "delete_file":
        operation["diff"] = diff if isinstance(diff, str) else "" if given else arguments
    return operation


def call_arguments(item: JsonObject, kind: Kind) -> object:
    """The model's arguments, from a call item of the history; the reverse of `call_members`."""
    if kind in ("local_shell", "shell"):
        action = item.get("action")
        members = action.items() if isinstance(action, dict) else ()
        return {key: value for key, value in members if key != "type" and value is not None}
    if kind == "apply_patch":
        operation = item.get("operation")
        return operation if isinstance(operation, dict) else {}
    return item.get("arguments") or {}


def patch_result(item: JsonObject) -> str:
    """The content of the tool message for an `apply_patch_call_output`: whether it worked, and the client's words."""
    output, status = item.get("output"), item.get("status")
    lines = [status if isinstance(status, str) else "", output if isinstance(output, str) else ""]
    return "\n".join(line for line in lines if line)
