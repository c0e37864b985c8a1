"""Parameters that a host refuses for a generation: dropped, or mapped to what it accepts (section 9)."""

from __future__ import annotations

from moongate.errors import BadRequest
from moongate.kimi.generations import ModelFacts
from moongate.kimi.hosts import EFFORTS, LOWEST_EFFORT, SAMPLING_FIELDS, HostFacts, ParameterFacts
from moongate.kimi.notes import Notes
from moongate.kimi.options import KimiOptions
from moongate.payload import JsonObject


def with_default_tool_choice(request: JsonObject, options: KimiOptions) -> JsonObject:
    """Apply the option `toolChoiceDefault`: a request with tools but without a `tool_choice` gets one.

    It leaves no note: filling in a default is no repair.
    """
    if request.get("tool_choice") is not None or not request.get("tools") or not isinstance(request["tools"], list):
        return request
    return {**request, "tool_choice": options.tool_choice_default}


def is_thinking(request: JsonObject, model: ModelFacts) -> bool:
    """Whether the model will think. "disabled" is ignored where thinking is always on."""
    return model.thinking == "always" or (model.thinking == "switchable" and not _is_disabled(request))


def check_tool_count(count: int, host: HostFacts) -> None:
    """Refuse more tools than the host accepts, those inside messages included."""
    if host.max_tools is not None and count > host.max_tools:
        raise BadRequest(f"{count} tools, but the provider takes at most {host.max_tools}", path="tools")


def adapt_parameters(request: JsonObject, model: ModelFacts, host: HostFacts, notes: Notes) -> JsonObject:
    """The request with parameters that the host accepts; the same object if it accepts them all."""
    facts = host.parameters.get(model.generation)
    changes: JsonObject = {} if facts is None else _changes(request, facts, model)
    if host.takes_template_arguments and model.template_effort:
        changes |= _template_effort(request)
    if not changes:
        return request
    for key, value in changes.items():
        notes.add("parameter", key, request.get(key), value)
    dropped = {key for key, value in changes.items() if value is None}
    return {key: value for key, value in {**request, **changes}.items() if key not in dropped}


def _changes(request: JsonObject, facts: ParameterFacts, model: ModelFacts) -> JsonObject:
    """Field → new value, None to drop the field."""
    changes: JsonObject = {}
    if "thinking" in request and _drops_thinking(request, facts):
        changes["thinking"] = None
    if facts.takes_effort and (effort := _effort(request)) and effort != request.get("reasoning_effort"):
        changes["reasoning_effort"] = effort
    if facts.fixed_sampling:
        changes.update(dict.fromkeys(key for key in SAMPLING_FIELDS if key in request))
    if facts.token_limit != "as asked":
        changes |= _token_limit(request, facts.token_limit)
    choice = request.get("tool_choice")
    if facts.forced_choice == "required" and names_tool(choice):
        changes["tool_choice"] = "required"
    elif facts.forced_choice == "auto" and (choice == "required" or names_tool(choice)) and is_thinking(request, model):
        changes["tool_choice"] = "auto"
    return changes


def _token_limit(request: JsonObject, taken: str) -> JsonObject:
    """The limit of the answer under the name that the host takes; the other name is dropped."""
    other = "max_tokens" if taken == "max_completion_tokens" else "max_completion_tokens"
    if other not in request:
        return {}
    changes: JsonObject = {other: None}
    if request.get(taken) is None and request[other] is not None:
        changes[taken] = request[other]
    return changes


def _drops_thinking(request: JsonObject, facts: ParameterFacts) -> bool:
    if facts.thinking in ("as asked", "drop"):
        return facts.thinking == "drop"
    return _is_disabled(request) is (facts.thinking == "drop disabled")


def _effort(request: JsonObject) -> str:
    """The effort that the client asked for, in Kimi's words; "" if it asked for none.

    Moonshot's own client writes `thinking.effort`, which therefore wins over `reasoning_effort`. A value that is no
    text is left to the provider.
    """
    thinking = request.get("thinking")
    effort = thinking.get("effort") if isinstance(thinking, dict) else None
    if not isinstance(effort, str):
        effort = request.get("reasoning_effort")
    return EFFORTS.get(effort.lower(), LOWEST_EFFORT) if isinstance(effort, str) else ""


def _template_effort(request: JsonObject) -> JsonObject:
    """The effort as an argument of the chat template, unless the client set that itself."""
    arguments, effort = request.get("chat_template_kwargs"), _effort(request)
    if arguments is None:
        arguments = {}
    if not effort or not isinstance(arguments, dict) or "thinking_effort" in arguments:
        return {}
    return {"chat_template_kwargs": {**arguments, "thinking_effort": effort}}


def names_tool(choice: object) -> bool:
    """Whether `tool_choice` names one tool."""
    return isinstance(choice, dict) and ("function" in choice or choice.get("type") in ("function", "custom"))


def _is_disabled(request: JsonObject) -> bool:
    thinking = request.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") == "disabled"
