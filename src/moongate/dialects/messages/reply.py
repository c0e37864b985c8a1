"""What streamed and whole Anthropic answers share: ids, stop reasons, usage, signatures."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from moongate.dialects.answer import Finish, Head, answer_id, usage_of
from moongate.dialects.messages.ids import DIGEST, shown_id
from moongate.payload import JsonObject, dumps_text, loads, object_of

_STOP_REASONS: Final = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def message_of(head: Head, asked: JsonObject, usage: JsonObject | None = None) -> JsonObject:
    """An Anthropic message that has not said anything yet. It names the model that the client asked for."""
    model = asked.get("model")
    return {
        "id": message_id(head),
        "type": "message",
        "role": "assistant",
        "model": model if isinstance(model, str) else head.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage_body(usage),
    }


def message_id(head: Head) -> str:
    """The answer's id in Anthropic's form, made from the provider's."""
    return "msg_" + answer_id(head)


def call_id(given: str, head: Head, position: int, asked: JsonObject) -> str:
    """The id of a call for the client; a call without one gets it from the answer's id and its place in it.

    A digest cannot be read back, so that nobody could find that the provider repeats an id; it is made anew then.
    """
    made = f"{message_id(head)}_{position}"
    shown = shown_id(given or made)
    if shown.startswith(DIGEST) and shown in _known_ids(asked):
        return shown_id(f"{given}.{made}")
    return shown


def _known_ids(asked: JsonObject) -> set[str]:
    """The ids of the calls in a (good) request."""
    contents = (message.get("content") for message in asked.get("messages", ()))
    blocks = (block for content in contents if isinstance(content, list) for block in content)
    return {block["id"] for block in blocks if block.get("type") == "tool_use"}


def signature_of(head: Head, index: int) -> str:
    """A thinking block's signature. Clients insist on having one; nobody here checks it."""
    return b64encode(f"moongate:{message_id(head)}:{index}".encode()).decode("ascii")


def stop_fields(finish: Finish, asked: JsonObject) -> JsonObject:
    """`stop_reason` and `stop_sequence`."""
    asked_stops = asked.get("stop_sequences")
    if finish.reason == "stop" and isinstance(asked_stops, list) and finish.stop in asked_stops:
        return {"stop_reason": "stop_sequence", "stop_sequence": finish.stop}
    return {"stop_reason": _STOP_REASONS.get(finish.reason, "end_turn"), "stop_sequence": None}


def usage_body(usage: JsonObject | None) -> JsonObject:
    """Anthropic counts what was read from the cache apart from the rest of the input."""
    counts = usage_of(usage)
    return {
        "input_tokens": counts.prompt - counts.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": counts.cached,
        "output_tokens": counts.completion,
    }


def boxed(arguments: str) -> str:
    """Arguments that do not begin as an object, as the text of one: Anthropic's `input` is always an object.

    A JSON text that holds an object is that object; anything else goes under `arguments`.
    """
    try:
        value = loads(arguments)
    except ValueError:
        value = arguments
    if isinstance(value, str) and (inner := object_of(value)) is not None:
        return dumps_text(inner)
    return dumps_text({"arguments": value})
