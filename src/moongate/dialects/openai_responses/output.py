"""The output items of an answer and their parts, the same in streams and in whole responses."""

from __future__ import annotations

from moongate.dialects.openai_responses.reasoning import sealed
from moongate.payload import JsonObject


def text_part(text: str) -> JsonObject:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def text_item(item_id: str, parts: list[JsonObject], status: str) -> JsonObject:
    """A message of the assistant; while it is in progress it has no parts."""
    return {"id": item_id, "type": "message", "role": "assistant", "content": parts, "status": status}


def summary_part(text: str) -> JsonObject:
    return {"type": "summary_text", "text": text}


def reasoning_item(item_id: str, parts: list[JsonObject]) -> JsonObject:
    return {"id": item_id, "type": "reasoning", "summary": parts}


def reasoned_item(item_id: str, text: str, client_request: JsonObject) -> JsonObject:
    """A finished reasoning item, with `encrypted_content` if the client asks for it."""
    item = reasoning_item(item_id, [summary_part(text)])
    included = client_request.get("include")
    if isinstance(included, list) and "reasoning.encrypted_content" in included:
        item["encrypted_content"] = sealed(text)
    return item
