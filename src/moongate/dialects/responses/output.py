"""The output items of an answer and their parts, alike in a stream and in a whole answer."""

from __future__ import annotations

from moongate.dialects.responses.reasoning import sealed
from moongate.payload import JsonObject


def text_part(text: str) -> JsonObject:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def text_item(item_id: str, parts: list[JsonObject], status: str) -> JsonObject:
    """A message of the assistant. It has no parts yet while it is in progress."""
    return {"id": item_id, "type": "message", "role": "assistant", "content": parts, "status": status}


def summary_part(text: str) -> JsonObject:
    return {"type": "summary_text", "text": text}


def reasoning_item(item_id: str, parts: list[JsonObject]) -> JsonObject:
    return {"id": item_id, "type": "reasoning", "summary": parts}


def reasoned_item(item_id: str, text: str, asked: JsonObject) -> JsonObject:
    """Reasoning that is over, sealed as well if the client asked for it."""
    item = reasoning_item(item_id, [summary_part(text)])
    included = asked.get("include")
    if isinstance(included, list) and "reasoning.encrypted_content" in included:
        item["encrypted_content"] = sealed(text)
    return item
