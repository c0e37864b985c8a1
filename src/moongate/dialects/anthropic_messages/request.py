"""An Anthropic request → a chat request."""

from __future__ import annotations

from typing import Final

from moongate.chat.contracts import Note
from moongate.dialects.anthropic_messages.content import blocks_of, is_billing
from moongate.dialects.anthropic_messages.fast import left_out_once, offered_once
from moongate.dialects.anthropic_messages.history import chat_messages
from moongate.dialects.anthropic_messages.tools import choice_fields
from moongate.errors import BadRequest
from moongate.payload import JsonObject

# Fields that chat has too, with the same meaning. The others (metadata, betas, …) have no counterpart in chat.
_SAME: Final = (
    "model",
    "max_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "prompt_cache_key",
    "chat_template_kwargs",
)


def chat_request(body: JsonObject) -> JsonObject:
    """The equivalent chat request. Raises BadRequest with the path of the invalid field."""
    request: JsonObject = {name: value for name in _SAME if (value := body.get(name)) is not None}
    offered = offered_once(body)
    request["messages"] = chat_messages(body, offered.loaded)
    if offered.tools:
        request["tools"] = offered.tools
    if names := offered.names:
        request.update(choice_fields(body.get("tool_choice"), names))
    if stop := _stop_sequences(body.get("stop_sequences")):
        request["stop"] = stop
    request.update(_thinking(body.get("thinking")))
    request.update(_output(body))
    if body.get("stream"):
        request["stream"] = True
        request["stream_options"] = {"include_usage": True}  # the last events of this front contain it
    return request


def left_out(body: JsonObject) -> list[Note]:
    """The parts of a (valid) request that do not reach the model."""
    notes = left_out_once(body)
    for index, block in enumerate(blocks_of(body.get("system"), "system")):
        if is_billing(block):
            notes.append(Note("parameter", f"system[{index}]", before="x-anthropic-billing-header"))
    if body.get("mcp_servers"):
        notes.append(Note("parameter", "mcp_servers", before="mcp_servers"))
    return notes


def _stop_sequences(given: object) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise BadRequest("must be a list of strings", path="stop_sequences")
    return given


def _thinking(given: object) -> JsonObject:
    """`thinking` as Kimi has it: on or off. It has no budgets, and always thinks adaptively."""
    if given is None:
        return {}
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(kind, str):
        raise BadRequest("must be enabled, adaptive or disabled", path="thinking.type")
    return {"thinking": {"type": "disabled" if kind == "disabled" else "enabled"}}


def _output(body: JsonObject) -> JsonObject:
    """`output_config` (and its older form `output_format`): effort and structured output."""
    config = body.get("output_config")
    config = config if isinstance(config, dict) else {}
    fields: JsonObject = {}
    if isinstance(config.get("effort"), str):
        fields["reasoning_effort"] = config["effort"]
    output = config.get("format") or body.get("output_format")
    if isinstance(output, dict) and output.get("type") == "json_schema":
        schema = {"name": "output", "schema": output.get("schema") or {}, "strict": True}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    return fields
