"""The request validation of Moonshot's API, with its error messages as far as they are known.

Each check is a function from the request to the message of a 400, or None. Hosts with `walls` or `relay` apply all
that Moonshot has for the generation; each row of the group `refusal` adds one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moongate.payload import JsonObject
from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import calls_in, text_of
from moongate.sim.thinking import EFFORT_GENERATIONS, EFFORTS, object_at, thinks
from moongate.sim.tool_validation import (
    dynamic_tools_error,
    names_error,
    no_dynamic_tools_error,
    response_format_error,
    schemas_error,
    tools_error,
)

FIXED: Final[dict[str, float]] = {"top_p": 0.95, "n": 1, "presence_penalty": 0, "frequency_penalty": 0}
FIXED_SAMPLING: Final = ("k2.5", "k2.6", "k2.7", "k2.8", "k3", "k3.1")
NO_THINKING: Final = ("k2", "moonshot-v1")
ALWAYS_THINKING: Final = ("k2-thinking", "k2.7", "k2.8", "k3.1")
CHOICES: Final = ("auto", "none", "required")

Check = Callable[[JsonObject, Behaviour], str | None]


def validation_error(request: JsonObject, behaviour: Behaviour) -> str | None:
    """The message of the 400 with which this host refuses the request, or None if it takes it."""
    checks = (*(ALL_CHECKS if behaviour.validates else ()), *(SINGLE_CHECKS[name] for name in behaviour.refuses))
    return next((text for check in checks if (text := check(request, behaviour)) is not None), None)


def _sampling(request: JsonObject, behaviour: Behaviour) -> str | None:
    return fixed_sampling_error(request, behaviour) if behaviour.generation in FIXED_SAMPLING else None


def fixed_sampling_error(request: JsonObject, behaviour: Behaviour) -> str | None:
    """One value of each field passes; of the temperature one, or everything from 0 to 1."""
    given = request.get("temperature")
    ranged = (behaviour.temperature or ("range" if behaviour.family == "k3" else "fixed")) == "range"
    only = 1.0 if thinks(request, behaviour) or not behaviour.thinks else 0.6
    if given is not None and ranged and not (isinstance(given, int | float) and 0 <= given <= 1):
        return "invalid temperature: only 0 to 1 is allowed for this model"
    if given is not None and not ranged and given != only:
        return f"invalid temperature: only {only:g} is allowed for this model"
    for field, value in FIXED.items():
        if request.get(field) not in (None, value):
            return f"invalid {field}: only {value:g} is allowed for this model"
    return None


def _thinking_field(request: JsonObject, behaviour: Behaviour) -> str | None:
    thinking = request.get("thinking")
    if thinking is None:
        return None
    if behaviour.generation in NO_THINKING:
        return "invalid thinking: not supported by this model"
    if not isinstance(thinking, dict) or thinking.get("type", "enabled") not in ("enabled", "disabled"):
        return "invalid thinking: only type=enabled and type=disabled are allowed for this model"
    disabled = thinking.get("type") == "disabled"
    if disabled and behaviour.generation in ALWAYS_THINKING:
        return "invalid thinking: only type=enabled is allowed for this model"
    if not disabled and thinking.get("keep") not in (None, "all"):
        return "invalid thinking: only keep=all is allowed for this model"
    return None


def no_thinking_error(request: JsonObject, _behaviour: Behaviour) -> str | None:
    return "invalid thinking: not supported by this model" if request.get("thinking") is not None else None


def _effort(request: JsonObject, behaviour: Behaviour) -> str | None:
    return effort_error(request, behaviour) if behaviour.generation in EFFORT_GENERATIONS else None


def effort_error(request: JsonObject, _behaviour: Behaviour) -> str | None:
    thinking = object_at(request, "thinking")
    ignored = thinking.get("type") == "disabled"
    for name, effort in (
        ("thinking.effort", thinking.get("effort")),
        ("reasoning_effort", request.get("reasoning_effort")),
    ):
        if effort is not None and effort not in EFFORTS and not ignored:
            return f"invalid {name}: only {', '.join(EFFORTS)} are allowed for this model"
    return None


def _tool_choice(request: JsonObject, behaviour: Behaviour) -> str | None:
    choice = request.get("tool_choice")
    if choice is None or choice in ("auto", "none"):
        return None
    if choice not in CHOICES and not (isinstance(choice, dict) and choice.get("type") == "function"):
        return f"invalid tool_choice: {choice if isinstance(choice, str) else 'unknown form'}"
    if behaviour.family == "k3":
        if choice == "required" and not _any_tools(request):
            return "tool_choice 'required' needs tools"
        refused = isinstance(choice, dict) and behaviour.named == "refused"
        return "invalid tool_choice: only auto, none and required are allowed for this model" if refused else None
    return forced_choice_error(request, behaviour)


def forced_choice_error(request: JsonObject, behaviour: Behaviour) -> str | None:
    choice = request.get("tool_choice")
    if not thinks(request, behaviour) or not (choice == "required" or isinstance(choice, dict)):
        return None
    kind = "required" if choice == "required" else "specified"
    return f"tool_choice '{kind}' is incompatible with thinking enabled"


def _any_tools(request: JsonObject) -> bool:
    return bool(request.get("tools")) or any(message.get("tools") for message in _messages(request))


def _reasoning(request: JsonObject, behaviour: Behaviour) -> str | None:
    # K3's contract takes an assistant message with calls and no reasoning.
    return None if behaviour.family == "k3" else missing_reasoning_error(request, behaviour)


def missing_reasoning_error(request: JsonObject, behaviour: Behaviour) -> str | None:
    if not thinks(request, behaviour):
        return None
    for index, message in enumerate(_messages(request)):
        if message.get("role") != "assistant" or not calls_in(message):
            continue
        given = message.get("reasoning_content")
        # kimi-k2-thinking accepts the empty string, later models need at least a blank.
        if given is None or (given == "" and behaviour.generation != "k2-thinking"):
            return (
                f"thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}"
            )
    return None


def _max_tokens(request: JsonObject, _behaviour: Behaviour) -> str | None:
    if request.get("max_tokens") is None:
        return None
    return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."


def _max_completion_tokens(request: JsonObject, _behaviour: Behaviour) -> str | None:
    if request.get("max_completion_tokens") is None:
        return None
    return "Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use 'max_tokens' instead."


def _roles(request: JsonObject, _behaviour: Behaviour) -> str | None:
    for position, message in enumerate(_messages(request)):
        role = message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            return f"Invalid request: invalid role {role!r} of the message at position {position}"
    return None


def _empty(request: JsonObject, _behaviour: Behaviour) -> str | None:
    for position, message in enumerate(_messages(request)):
        content = message.get("content")
        if message.get("role") != "assistant":
            continue
        parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
        if any(part.get("type") == "text" and not part.get("text") for part in parts):
            return "Invalid request: text content is empty"
        if not text_of(content) and not calls_in(message):
            return f"Invalid request: the message at position {position} with role 'assistant' must not be empty"
    return None


def _pairs(request: JsonObject, _behaviour: Behaviour) -> str | None:
    seen: set[str] = set()
    waiting: dict[str, None] = {}
    for message in [*_messages(request), {}]:
        if message.get("role") == "tool":
            call_id = str(message.get("tool_call_id") or "")
            if call_id not in waiting:
                return f"Invalid request: tool_call_id {call_id} is not found"
            del waiting[call_id]
            continue
        if waiting:
            return (
                "Invalid request: an assistant message with 'tool_calls' must be followed by tool messages "
                f"responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(waiting)}"
            )
        for call in calls_in(message):
            call_id = str(call.get("id"))
            if call_id in seen:
                return f"Invalid request: tool call id {call_id} is duplicated"
            seen.add(call_id)
            waiting[call_id] = None
    return None


def _messages(request: JsonObject) -> list[JsonObject]:
    return [message for message in request.get("messages") or [] if isinstance(message, dict)]


ALL_CHECKS: Final[tuple[Check, ...]] = (
    _roles,
    dynamic_tools_error,
    _empty,
    _pairs,
    tools_error,
    response_format_error,
    _sampling,
    _thinking_field,
    _effort,
    _tool_choice,
    _reasoning,
)
SINGLE_CHECKS: Final[dict[str, Check]] = {
    "reasoning": missing_reasoning_error,
    "sampling": fixed_sampling_error,
    "choice": forced_choice_error,
    "thinking": no_thinking_error,
    "effort": effort_error,
    "schema": schemas_error,
    "names": names_error,
    "max_tokens": _max_tokens,
    "max_completion_tokens": _max_completion_tokens,
    "dynamic": no_dynamic_tools_error,
}
