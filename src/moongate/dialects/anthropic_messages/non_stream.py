"""A whole chat completion → an Anthropic message."""

from __future__ import annotations

from moongate.dialects.anthropic_messages.partial import readable_object
from moongate.dialects.anthropic_messages.reply import KnownIds, boxed, call_id, message_of, signature_of, stop_fields
from moongate.dialects.non_stream import CompletionBlocks
from moongate.payload import JsonObject


def message(reply: JsonObject, client_request: JsonObject) -> JsonObject:
    """The completion as an Anthropic message. Raises BadUpstream where a stream would break."""
    whole = CompletionBlocks(reply)
    found = message_of(whole.head, client_request, whole.finish.usage)
    known = KnownIds(client_request)
    found["content"] = [_content(whole, at, known) for at in range(len(whole.blocks))]
    found.update(stop_fields(whole.finish, client_request))
    return found


def _content(whole: CompletionBlocks, at: int, known: KnownIds) -> JsonObject:
    block, text, head = whole.blocks[at], whole.texts[at], whole.head
    if block.kind == "text":
        return {"type": "text", "text": text}
    if block.kind == "reasoning":
        return {"type": "thinking", "thinking": text, "signature": signature_of(head, at)}
    shown = call_id(block.id, head, at, known)
    return {"type": "tool_use", "id": shown, "name": block.name, "input": _input_of(text)}


def _input_of(arguments: str) -> JsonObject:
    text = arguments.strip()
    if text and not text.startswith("{"):
        text = boxed(arguments)
    return readable_object(text)
