"""A Responses request → a chat request."""

from __future__ import annotations

from typing import Final

from moongate.chat.contracts import Note
from moongate.dialects.openai_responses.fast import left_out_once, toolbox_once
from moongate.dialects.openai_responses.items import chat_messages, left_out_items
from moongate.dialects.openai_responses.tools import choice_fields
from moongate.errors import NeedsStore
from moongate.payload import JsonObject

# Fields that chat has too, with the same meaning. The others have no counterpart in chat.
_SAME: Final = ("model", "temperature", "top_p", "seed", "prompt_cache_key", "chat_template_kwargs")

# Fields that need a server with stored answers, and the error message for each.
_STORED: Final = {
    "previous_response_id": "answers are not stored here: send the whole conversation in `input`",
    "conversation": "conversations are not stored here: send the whole conversation in `input`",
    "prompt": "prompts are not stored here: send `instructions` and `input`",
    "background": "answers are not stored here: ask with `stream`, or wait",
}


def chat_request(body: JsonObject) -> JsonObject:
    """The equivalent chat request. Raises BadRequest with the path of the invalid field; NeedsStore has the rest."""
    if not body.keys().isdisjoint(_STORED):
        for name, reason in _STORED.items():
            if body.get(name):
                rest = {each: value for each, value in body.items() if each not in _STORED}
                raise NeedsStore(reason, name, _translated(rest if rest.get("input") else {**rest, "input": ""}))
    return _translated(body)


def _translated(body: JsonObject) -> JsonObject:
    request: JsonObject = {name: value for name in _SAME if (value := body.get(name)) is not None}
    box = toolbox_once(body)
    request["messages"] = chat_messages(body, box)
    if body.get("max_output_tokens") is not None:
        request["max_tokens"] = body["max_output_tokens"]
    request.update(choice_fields(body.get("tool_choice"), box))
    if (box.tools or box.loaded) and isinstance(body.get("parallel_tool_calls"), bool):
        request["parallel_tool_calls"] = body["parallel_tool_calls"]
    request.update(_effort(body.get("reasoning")))
    request.update(_format(body.get("text")))
    if body.get("stream"):
        request["stream"] = True
        request["stream_options"] = {"include_usage": True}  # the last event of this front contains it
    return request


def left_out(body: JsonObject) -> list[Note]:
    """The parts of a (valid) request that do not reach the model."""
    notes = left_out_once(body) + left_out_items(body)
    included = body.get("include")
    asked = isinstance(included, list) and "message.output_text.logprobs" in included
    if asked or body.get("top_logprobs"):
        notes.append(Note("parameter", "top_logprobs", before="logprobs"))
    return notes


def _effort(reasoning: object) -> JsonObject:
    effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
    if not isinstance(effort, str):
        return {}
    fields: JsonObject = {"reasoning_effort": effort}
    if effort == "none":  # for models that have no effort levels but a switch
        fields["thinking"] = {"type": "disabled"}
    return fields


def _format(text: object) -> JsonObject:
    given = text.get("format") if isinstance(text, dict) else None
    if not isinstance(given, dict) or given.get("type") in (None, "text"):
        return {}
    if given["type"] != "json_schema":
        return {"response_format": given}
    schema = {name: value for name, value in given.items() if name != "type" and value is not None}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}
