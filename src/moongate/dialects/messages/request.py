"""An Anthropic request → a chat request."""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.contracts import Note
from moongate.dialects.messages.content import blocks_of, is_billing
from moongate.dialects.messages.history import chat_messages
from moongate.dialects.messages.tools import chat_tools, choice_fields, left_out_tools
from moongate.errors import BadRequest
from moongate.payload import JsonObject

# Same name and meaning in chat. Everything else (metadata, betas, context_management, …) has no counterpart there.
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
    """The chat request that asks for the same. Raises BadRequest with the path of the culprit."""
    request: JsonObject = {name: value for name in _SAME if (value := body.get(name)) is not None}
    request["messages"] = chat_messages(body)
    if tools := chat_tools(body):
        request["tools"] = tools
        request.update(choice_fields(body.get("tool_choice"), tools))
    if stop := _stop_sequences(body.get("stop_sequences")):
        request["stop"] = stop
    request.update(_thinking(body.get("thinking")))
    request.update(_output(body))
    if body.get("stream"):
        request["stream"] = True
        request["stream_options"] = {"include_usage": True}  # the front's last events carry it
    return request


def left_out(body: JsonObject) -> list[Note]:
    """What of a (good) request does not reach the model."""
    notes = left_out_tools(body)
    for index, block in enumerate(blocks_of(body.get("system"), "system")):
        if is_billing(block):
            notes.append(Note("parameter", f"system[{index}]", before="x-anthropic-billing-header"))
    if body.get("mcp_servers"):
        notes.append(Note("parameter", "mcp_servers", before="mcp_servers"))
    return notes


def _stop_sequences(given: Any) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise BadRequest("must be a list of texts", path="stop_sequences")
    return given


def _thinking(given: Any) -> JsonObject:
    """`thinking` as Kimi knows it: on or off. Budgets are Anthropic's own; "adaptive" is how Kimi thinks anyway."""
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
    wanted = config.get("format") or body.get("output_format")
    if isinstance(wanted, dict) and wanted.get("type") == "json_schema":
        schema = {"name": "output", "schema": wanted.get("schema") or {}, "strict": True}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    return fields
