"""Parameters that a host refuses for a generation: dropped, or mapped to what it takes (section 9)."""

from __future__ import annotations

from typing import Any

from moongate.errors import BadRequest
from moongate.kimi.family import ModelFacts
from moongate.kimi.hosts import SAMPLING_FIELDS, HostFacts, ParameterFacts
from moongate.kimi.notes import Notes
from moongate.kimi.options import KimiOptions
from moongate.payload import JsonObject


def with_default_choice(request: JsonObject, options: KimiOptions, notes: Notes) -> JsonObject:
    """`toolChoiceDefault`: tools without a `tool_choice` get one."""
    if request.get("tool_choice") is not None or not request.get("tools") or not isinstance(request["tools"], list):
        return request
    notes.add("parameter", "tool_choice", None, options.tool_choice_default)
    return {**request, "tool_choice": options.tool_choice_default}


def is_thinking(request: JsonObject, model: ModelFacts) -> bool:
    """Will the model think? "Disabled" where thinking is always on counts as on."""
    return model.thinking == "always" or (model.thinking == "switchable" and not _is_disabled(request))


def mend_parameters(request: JsonObject, model: ModelFacts, host: HostFacts, notes: Notes) -> JsonObject:
    """The request with parameters that the host takes; the same object if it takes them all."""
    tools = request.get("tools")
    if host.max_tools is not None and isinstance(tools, list) and len(tools) > host.max_tools:
        raise BadRequest(f"{len(tools)} tools, but the provider takes at most {host.max_tools}", path="tools")
    facts = host.parameters.get(model.generation)
    if facts is None:
        return request
    changes = _changes(request, facts, model)
    if not changes:
        return request
    for key, value in changes.items():
        notes.add("parameter", key, request.get(key), value)
    dropped = {key for key, value in changes.items() if value is None}
    return {key: value for key, value in {**request, **changes}.items() if key not in dropped}


def _changes(request: JsonObject, facts: ParameterFacts, model: ModelFacts) -> JsonObject:
    """What changes: the new value, None to drop the field."""
    changes: JsonObject = {}
    if "thinking" in request and (
        facts.thinking == "drop" or (facts.thinking == "drop disabled" and _is_disabled(request))
    ):
        changes["thinking"] = None
    if facts.fixed_sampling:
        changes.update(dict.fromkeys(key for key in SAMPLING_FIELDS if key in request))
    if facts.renames_max_tokens and "max_tokens" in request:
        changes["max_tokens"] = None
        if request.get("max_completion_tokens") is None and request["max_tokens"] is not None:
            changes["max_completion_tokens"] = request["max_tokens"]
    effort = request.get("reasoning_effort")
    if isinstance(effort, str) and effort in facts.efforts:
        changes["reasoning_effort"] = facts.efforts[effort]
    choice = request.get("tool_choice")
    if facts.forced_choice == "required" and is_named(choice):
        changes["tool_choice"] = "required"
    elif facts.forced_choice == "auto" and (choice == "required" or is_named(choice)) and is_thinking(request, model):
        changes["tool_choice"] = "auto"
    return changes


def is_named(choice: Any) -> bool:
    """Does `tool_choice` name one function?"""
    return isinstance(choice, dict) and ("function" in choice or choice.get("type") == "function")


def _is_disabled(request: JsonObject) -> bool:
    thinking = request.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") == "disabled"
