"""A whole chat completion → an Anthropic message."""

from __future__ import annotations

from moongate.dialects.answer import Head
from moongate.dialects.block import Block
from moongate.dialects.messages.partial import readable_object
from moongate.dialects.messages.reply import boxed, call_id, message_of, signature_of, stop_fields
from moongate.dialects.whole import Whole
from moongate.payload import JsonObject


def message(reply: JsonObject, asked: JsonObject) -> JsonObject:
    """The Anthropic message that says what the completion says. Raises BadUpstream where a stream would break."""
    whole = Whole(reply)
    found = message_of(whole.head, asked, whole.finish.usage)
    found["content"] = [_content(block, at, whole.head, asked) for at, block in enumerate(whole.blocks)]
    found.update(stop_fields(whole.finish, asked))
    return found


def _content(block: Block, at: int, head: Head, asked: JsonObject) -> JsonObject:
    text = block.pieces[0]
    if block.kind == "text":
        return {"type": "text", "text": text}
    if block.kind == "reasoning":
        return {"type": "thinking", "thinking": text, "signature": signature_of(head, at)}
    shown = call_id(block.id, head, at, asked)
    return {"type": "tool_use", "id": shown, "name": block.name, "input": _input_of(text)}


def _input_of(arguments: str) -> JsonObject:
    text = arguments.strip()
    if text and not text.startswith("{"):
        text = boxed(arguments)
    return readable_object(text)
