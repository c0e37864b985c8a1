"""Parts that streamed and non-streamed Anthropic answers share: ids, stop reasons, usage, signatures."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from moongate.dialects.anthropic_messages.ids import DIGEST_PREFIX, client_call_id
from moongate.dialects.chat_answer import AnswerHead, Finish, answer_id, usage_of
from moongate.payload import JsonObject, dumps_text, loads, object_of
from moongate.wire.threads import let_threads_run

_STOP_REASONS: Final = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def message_of(head: AnswerHead, client_request: JsonObject, usage: JsonObject | None = None) -> JsonObject:
    """An Anthropic message without content. It names the model that the client requested."""
    model = client_request.get("model")
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


def message_id(head: AnswerHead) -> str:
    """The answer's id in Anthropic's format, derived from the provider's."""
    return "msg_" + answer_id(head)


class KnownIds:
    """The ids of the calls in a (valid) request, gathered once, when they are needed: few answers need them."""

    __slots__ = ("_found", "_request")

    def __init__(self, client_request: JsonObject) -> None:
        self._request = client_request
        self._found: set[str] | None = None

    def has(self, given: str) -> bool:
        if self._found is None:
            contents = (message.get("content") for message in self._request.get("messages", ()))
            blocks = (block for content in contents if isinstance(content, list) for block in content)
            self._found = {block["id"] for block in blocks if block.get("type") == "tool_use"}
        return given in self._found


def call_id(given: str, head: AnswerHead, position: int, known: KnownIds) -> str:
    """The id of a call for the client; a call without one gets an id from the answer's id and its position.

    A digest cannot be decoded, so no transformer can see that the provider repeated the id; it gets a new digest here.
    """
    let_threads_run()
    own_id = f"{message_id(head)}_{position}"
    encoded = client_call_id(given or own_id)
    if encoded.startswith(DIGEST_PREFIX) and known.has(encoded):
        return client_call_id(f"{given}.{own_id}")
    return encoded


def signature_of(head: AnswerHead, index: int) -> str:
    """The signature of a thinking block. Clients require one; the gateway does not check it."""
    return b64encode(f"moongate:{message_id(head)}:{index}".encode()).decode("ascii")


def stop_fields(finish: Finish, client_request: JsonObject) -> JsonObject:
    """`stop_reason` and `stop_sequence`."""
    sequences = client_request.get("stop_sequences")
    if finish.reason == "stop" and isinstance(sequences, list) and finish.stop in sequences:
        return {"stop_reason": "stop_sequence", "stop_sequence": finish.stop}
    return {"stop_reason": _STOP_REASONS.get(finish.reason, "end_turn"), "stop_sequence": None}


def usage_body(usage: JsonObject | None) -> JsonObject:
    """The token counts; Anthropic's `input_tokens` exclude what was read from the cache or written to it."""
    counts = usage_of(usage)
    return {
        "input_tokens": counts.prompt - counts.cached - counts.cache_written,
        "cache_creation_input_tokens": counts.cache_written,
        "cache_read_input_tokens": counts.cached,
        "output_tokens": counts.completion,
    }


def boxed(arguments: str) -> str:
    """Arguments that are not an object, as the JSON text of one: Anthropic's `input` is always an object.

    A JSON string that holds an object becomes that object; anything else becomes its member `arguments`.
    """
    try:
        value = loads(arguments)
    except ValueError:
        value = arguments
    if isinstance(value, str) and (inner := object_of(value)) is not None:
        return dumps_text(inner)
    return dumps_text({"arguments": value})
