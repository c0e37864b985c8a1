"""Moonshot's walls: what its API refuses, in its words as far as they are known.

Each wall is one function from the request to the text of a 400, or None. Hosts other than Moonshot have none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from moongate.kimi.schema import validate_schema
from moongate.payload import JsonObject
from moongate.sim.behaviours import Behaviour
from moongate.sim.script import calls_in, text_of

MAX_TOOLS: Final = 128
TOOL_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{2,63}", re.ASCII)
FIXED: Final[dict[str, float]] = {"top_p": 0.95, "n": 1, "presence_penalty": 0, "frequency_penalty": 0}
FIXED_SAMPLING: Final = ("k2.5", "k2.6", "k2.7", "k3")
ALWAYS_THINKING: Final = ("k2-thinking", "k2.7")
EFFORTS: Final = ("low", "high", "max")
CHOICES: Final = ("auto", "none", "required")

Wall = Callable[[JsonObject, Behaviour], str | None]


def wall(request: JsonObject, behaviour: Behaviour) -> str | None:
    """The text of Moonshot's refusal, or None."""
    if behaviour.host != "moonshot":
        return None
    return next((text for check in WALLS if (text := check(request, behaviour)) is not None), None)


def _sampling(request: JsonObject, behaviour: Behaviour) -> str | None:
    if behaviour.generation not in FIXED_SAMPLING:
        return None
    allowed = {"temperature": 1.0 if _thinking(request, behaviour) else 0.6, **FIXED}
    for field, value in allowed.items():
        given = request.get(field)
        if given is not None and given != value:
            return f"invalid {field}: only {value:g} is allowed for this model"
    return None


def _thinking_field(request: JsonObject, behaviour: Behaviour) -> str | None:
    thinking = request.get("thinking")
    if thinking is None:
        return None
    if behaviour.generation in ("k2", "moonshot-v1", "k3"):
        return "invalid thinking: not supported by this model"
    if behaviour.generation in ALWAYS_THINKING and _kind(thinking) != "enabled":
        return "invalid thinking: only type=enabled is allowed for this model"
    return None


def _effort(request: JsonObject, behaviour: Behaviour) -> str | None:
    effort = request.get("reasoning_effort")
    if behaviour.generation != "k3" or effort is None or effort in EFFORTS:
        return None
    return f"invalid reasoning_effort: only {', '.join(EFFORTS)} are allowed for this model"


def _tool_choice(request: JsonObject, behaviour: Behaviour) -> str | None:
    choice = request.get("tool_choice")
    if choice is None or choice in ("auto", "none"):
        return None
    if isinstance(choice, str) and choice not in CHOICES:
        return f"invalid tool_choice: {choice}"
    if behaviour.generation == "k3":
        missing = choice == "required" and not request.get("tools")
        return "tool_choice 'required' needs tools" if missing else None
    if not _thinking(request, behaviour):
        return None
    asked = "required" if choice == "required" else "specified"
    return f"tool_choice '{asked}' is incompatible with thinking enabled"


def _reasoning(request: JsonObject, behaviour: Behaviour) -> str | None:
    if not _thinking(request, behaviour):
        return None
    for place, message in enumerate(_messages(request)):
        if message.get("role") != "assistant" or not calls_in(message):
            continue
        given = message.get("reasoning_content")
        # kimi-k2-thinking takes the empty string, the later ones take a blank at least.
        if given is None or (given == "" and behaviour.generation != "k2-thinking"):
            return (
                f"thinking is enabled but reasoning_content is missing in assistant tool call message at index {place}"
            )
    return None


def _tools(request: JsonObject, _behaviour: Behaviour) -> str | None:
    tools = request.get("tools") or []
    if len(tools) > MAX_TOOLS:
        return f"Invalid request: too many tools: {len(tools)}, at most {MAX_TOOLS} are allowed"
    names: set[str] = set()
    for tool in tools:
        if not isinstance(tool, dict) or tool.get("type") != "function":
            continue
        function = tool.get("function") or {}
        name = str(function.get("name"))
        if not TOOL_NAME.fullmatch(name):
            return (
                "Invalid request: function name is invalid, must start with a letter and can contain "
                "letters, numbers, underscores, and dashes"
            )
        if name in names:
            return f"Invalid request: function name {name} is duplicated"
        names.add(name)
        text = _schema(function.get("parameters"))
        if text is not None:
            return text
    return None


def _schema(parameters: Any) -> str | None:
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return 'tools.function.parameters.type is required and must be "object"'
    detail = validate_schema(parameters)
    if detail is None:
        return None
    if detail.startswith("tools.function.parameters"):
        return detail
    return f"tools.function.parameters is not a valid moonshot flavored json schema, details: <{detail}>"


def _roles(request: JsonObject, _behaviour: Behaviour) -> str | None:
    for place, message in enumerate(_messages(request)):
        role = message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            return f"Invalid request: invalid role {role!r} of the message at position {place}"
        if message.get("tools") and role != "system":
            return "Invalid request: tools are only allowed on system messages"
        if message.get("tools") and message.get("content"):
            return "Invalid request: a system message with tools must have empty content"
    return None


def _empty(request: JsonObject, _behaviour: Behaviour) -> str | None:
    for place, message in enumerate(_messages(request)):
        content = message.get("content")
        if message.get("role") != "assistant":
            continue
        if isinstance(content, list) and any(p.get("type") == "text" and not p.get("text") for p in content):
            return "Invalid request: text content is empty"
        if not text_of(content) and not calls_in(message):
            return f"Invalid request: the message at position {place} with role 'assistant' must not be empty"
    return None


def _pairs(request: JsonObject, _behaviour: Behaviour) -> str | None:
    seen: set[str] = set()
    waiting: list[str] = []
    for message in [*_messages(request), {}]:
        if message.get("role") == "tool":
            identity = message.get("tool_call_id") or ""
            if identity not in waiting:
                return f"Invalid request: tool_call_id {identity} is not found"
            waiting.remove(identity)
            continue
        if waiting:
            return (
                "Invalid request: an assistant message with 'tool_calls' must be followed by tool messages "
                f"responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(waiting)}"
            )
        for call in calls_in(message):
            identity = str(call.get("id"))
            if identity in seen:
                return f"Invalid request: tool call id {identity} is duplicated"
            seen.add(identity)
            waiting.append(identity)
    return None


def _messages(request: JsonObject) -> list[JsonObject]:
    return [message for message in request.get("messages") or [] if isinstance(message, dict)]


def _kind(thinking: Any) -> str:
    return str(thinking.get("type", "enabled")) if isinstance(thinking, dict) else "enabled"


def _thinking(request: JsonObject, behaviour: Behaviour) -> bool:
    switchable = behaviour.generation in ("k2.5", "k2.6")
    return behaviour.thinks and not (switchable and _kind(request.get("thinking")) == "disabled")


WALLS: Final[tuple[Wall, ...]] = (
    _roles,
    _empty,
    _pairs,
    _tools,
    _sampling,
    _thinking_field,
    _effort,
    _tool_choice,
    _reasoning,
)
