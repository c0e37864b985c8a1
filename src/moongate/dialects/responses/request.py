"""A Responses request → a chat request."""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.contracts import Note
from moongate.dialects.responses.items import chat_messages, left_out_items
from moongate.dialects.responses.tools import choice_fields, left_out_tools, toolbox
from moongate.errors import BadRequest
from moongate.payload import JsonObject

# Same name and meaning in chat. Everything else has no counterpart there.
_SAME: Final = ("model", "temperature", "top_p", "seed", "prompt_cache_key", "chat_template_kwargs")

# What only a server that stores answers can do.
_STORED: Final = {
    "previous_response_id": "answers are not stored here: send the whole conversation in `input`",
    "conversation": "conversations are not stored here: send the whole conversation in `input`",
    "prompt": "prompts are not stored here: send `instructions` and `input`",
    "background": "answers are not stored here: ask with `stream`, or wait",
}


def chat_request(body: JsonObject) -> JsonObject:
    """The chat request that asks for the same. Raises BadRequest with the path of the culprit."""
    if not body.keys().isdisjoint(_STORED):
        for name, reason in _STORED.items():
            if body.get(name):
                raise BadRequest(reason, path=name, code="unsupported_parameter")
    request: JsonObject = {name: value for name in _SAME if (value := body.get(name)) is not None}
    box = toolbox(body)
    request["messages"] = chat_messages(body, box)
    if body.get("max_output_tokens") is not None:
        request["max_tokens"] = body["max_output_tokens"]
    tools = choice_fields(body.get("tool_choice"), box)
    request.update(tools)
    if tools and isinstance(body.get("parallel_tool_calls"), bool):
        request["parallel_tool_calls"] = body["parallel_tool_calls"]
    request.update(_effort(body.get("reasoning")))
    request.update(_format(body.get("text")))
    if body.get("stream"):
        request["stream"] = True
        request["stream_options"] = {"include_usage": True}  # the front's last event carries it
    return request


def left_out(body: JsonObject) -> list[Note]:
    """What of a (good) request does not reach the model."""
    return left_out_tools(body) + left_out_items(body)


def _effort(reasoning: Any) -> JsonObject:
    effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
    if not isinstance(effort, str):
        return {}
    fields: JsonObject = {"reasoning_effort": effort}
    if effort == "none":  # models that know no effort can still be told not to think
        fields["thinking"] = {"type": "disabled"}
    return fields


def _format(text: Any) -> JsonObject:
    wanted = text.get("format") if isinstance(text, dict) else None
    if not isinstance(wanted, dict) or wanted.get("type") in (None, "text"):
        return {}
    if wanted["type"] != "json_schema":
        return {"response_format": wanted}
    schema = {name: value for name, value in wanted.items() if name != "type" and value is not None}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}
