"""Moonshot's checks of tools, in `tools` and in messages, and of `response_format`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moongate.kimi.schema import StepBudget, validate_schema
from moongate.kimi.schema.step_budget import StepsExhausted
from moongate.payload import JsonObject
from moongate.sim.behaviours import Behaviour

MAX_TOOLS: Final = 128
MAX_SCHEMA_STEPS: Final = 1_000_000  # for all schemas of a request together
TOOL_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{2,63}", re.ASCII)
TOOL_TYPES: Final = ("function", "builtin_function")
FORMATS: Final = ("text", "json_object", "json_schema")
NAME_ERROR: Final = (
    "Invalid request: function name is invalid, must start with a letter and can contain "
    "letters, numbers, underscores, and dashes"
)
NO_DYNAMIC_TOOLS: Final = "Invalid request: tokenization failed"


def declaring(request: JsonObject) -> Iterator[JsonObject]:
    """The messages that declare tools."""
    for message in request.get("messages") or []:
        if isinstance(message, dict) and message.get("tools") is not None:
            yield message


def dynamic_tools_error(request: JsonObject, behaviour: Behaviour) -> str | None:
    """Where messages may declare tools: on K3, in system messages without content."""
    for message in declaring(request):
        if message.get("role") != "system":
            return "Invalid request: tools are only allowed on system messages"
        if not isinstance(message["tools"], list):
            return "Invalid request: messages.tools must be an array"
        if message["tools"] and behaviour.family != "k3":
            return NO_DYNAMIC_TOOLS
        if message["tools"] and message.get("content"):
            return "Invalid request: a system message with tools must have empty content"
    return None


def no_dynamic_tools_error(request: JsonObject, _behaviour: Behaviour) -> str | None:
    return NO_DYNAMIC_TOOLS if any(message["tools"] for message in declaring(request)) else None


def tools_error(request: JsonObject, behaviour: Behaviour, max_steps: int = MAX_SCHEMA_STEPS) -> str | None:
    """All tools of a request together: their number, their fields, their names, their schemas."""
    tools = request.get("tools")
    if tools is not None and not isinstance(tools, list):
        return "Invalid request: tools must be an array"
    every = [*(tools or []), *(tool for message in declaring(request) for tool in message["tools"])]
    if len(every) > MAX_TOOLS:
        return f"Invalid request: too many tools: {len(every)}, at most {MAX_TOOLS} are allowed"
    names: set[str] = set()
    steps = StepBudget(max_steps)
    for tool in every:
        text = _tool_error(tool, behaviour, steps)
        if text is not None:
            return text
        name = tool["function"]["name"]
        if name in names:
            return f"Invalid request: function name {name} is duplicated"
        names.add(name)
    return None


def _tool_error(tool: object, behaviour: Behaviour, steps: StepBudget) -> str | None:
    if not isinstance(tool, dict):
        return "Invalid request: tools must hold objects"
    if tool.get("type") not in TOOL_TYPES:
        return f"Invalid request: unsupported tool type {tool.get('type')!r}"
    function = tool.get("function")
    if not isinstance(function, dict):
        return "Invalid request: tools.function is required"
    if tool["type"] == "builtin_function":
        return None if isinstance(function.get("name"), str) else "Invalid request: function name is required"
    return _name_error(function) or _parameters_error(function, behaviour, steps)


def _name_error(function: JsonObject) -> str | None:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        return "Invalid request: function name is required"
    return None if TOOL_NAME.fullmatch(name) else NAME_ERROR


def _parameters_error(function: JsonObject, behaviour: Behaviour, steps: StepBudget) -> str | None:
    parameters = function.get("parameters")
    if not isinstance(parameters, dict):
        return 'tools.function.parameters.type is required and must be "object"'
    return _flavour_error("tools.function.parameters", parameters, behaviour, steps)


def _flavour_error(where: str, schema: JsonObject, behaviour: Behaviour, steps: StepBudget) -> str | None:
    try:
        detail = validate_schema(schema, behaviour.schema_level, steps=steps)
    except StepsExhausted:
        detail = "At path '': schema is too complex"
    return f"{where} is not a valid moonshot flavored json schema, details: <{detail}>" if detail else None


def names_error(request: JsonObject, _behaviour: Behaviour) -> str | None:
    """The names alone, for a host that checks nothing else."""
    return next((text for function in _functions(request) if (text := _name_error(function))), None)


def schemas_error(request: JsonObject, behaviour: Behaviour) -> str | None:
    """The schemas alone."""
    steps = StepBudget(MAX_SCHEMA_STEPS)
    errors = (_parameters_error(function, behaviour, steps) for function in _functions(request))
    return next((text for text in errors if text is not None), None)


def _functions(request: JsonObject) -> Iterator[JsonObject]:
    lists = [request.get("tools"), *(message["tools"] for message in declaring(request))]
    for tool in (tool for tools in lists if isinstance(tools, list) for tool in tools):
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict) and tool.get("type") == "function":
            yield tool["function"]


def response_format_error(request: JsonObject, behaviour: Behaviour) -> str | None:
    """A format must be of a known type; a JSON schema needs a name and a schema of Moonshot's flavour."""
    wanted = request.get("response_format")
    if wanted is None:
        return None
    if not isinstance(wanted, dict) or wanted.get("type") not in FORMATS:
        return f"Invalid request: response_format.type must be one of {', '.join(FORMATS)}"
    if wanted["type"] != "json_schema":
        return None
    inner = wanted.get("json_schema")
    if not isinstance(inner, dict):
        return "Invalid request: response_format.json_schema is required"
    if not isinstance(inner.get("name"), str) or not inner["name"]:
        return "Invalid request: response_format.json_schema.name is required"
    if not isinstance(inner.get("schema"), dict):
        return "Invalid request: response_format.json_schema.schema is required and must be an object"
    if not isinstance(inner.get("strict", True), bool):
        return "Invalid request: response_format.json_schema.strict must be a boolean"
    if inner.get("strict") is False:
        return None
    return _flavour_error(
        "response_format.json_schema.schema", inner["schema"], behaviour, StepBudget(MAX_SCHEMA_STEPS)
    )
