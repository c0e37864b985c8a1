"""Anthropic's content blocks → chat content. Blocks without a counterpart in chat become text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moongate.errors import BadRequest
from moongate.payload import JsonObject, dumps_text

REDACTED: Final = "[redacted thinking]"  # replaces encrypted thinking, which only Anthropic can read

# Claude Code's first system block, for Anthropic's billing. It changes with each version, which defeats prompt caches.
_BILLING: Final = "x-anthropic-billing-header:"


def blocks_of(content: object, path: str) -> list[JsonObject]:
    """The content of a message as blocks. Raises BadRequest if it is neither a string nor a list of blocks."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if content is None:
        return []
    if not isinstance(content, list):
        raise BadRequest("must be a string or a list of blocks", path=path)
    for index, block in enumerate(content):
        if not isinstance(block, dict):
            raise BadRequest("must be an object", path=f"{path}[{index}]")
    return content


def is_billing(block: JsonObject) -> bool:
    """Whether the block is billing metadata, not a part of the prompt."""
    text = block.get("text")
    return isinstance(text, str) and text.startswith(_BILLING)


def only_text(blocks: list[JsonObject]) -> str | None:
    """The text if there is one block, and it is text. So are most messages."""
    if len(blocks) != 1 or blocks[0].get("type") != "text":
        return None
    text = blocks[0].get("text")
    return text if isinstance(text, str) else None


def parts_of(blocks: Iterable[JsonObject]) -> list[JsonObject]:
    """The chat parts for blocks, without empty texts."""
    return [part for block in blocks if (part := part_of(block)).get("text") != ""]


def joined(parts: list[JsonObject]) -> str | list[JsonObject]:
    """One string if every part is text, because all hosts accept that; else the parts."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join([part["text"] for part in parts])
    return parts


def part_of(block: JsonObject) -> JsonObject:
    """The chat part for one block."""
    kind = block.get("type")
    if kind == "image":
        return _image(block)
    if kind == "text" and isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    if kind == "document":
        return {"type": "text", "text": _document(block)}
    if kind == "search_result":
        return {"type": "text", "text": _titled(block, block.get("source"), block.get("content"))}
    if kind == "tool_reference" and isinstance(block.get("tool_name"), str):
        return {"type": "text", "text": f"Tool {block['tool_name']} is available."}
    return {"type": "text", "text": unknown_text(block)}


def unknown_text(block: JsonObject) -> str:
    """An unknown block as text for the model: its JSON without `cache_control`."""
    return dumps_text({key: value for key, value in block.items() if key != "cache_control"})


def _image(block: JsonObject) -> JsonObject:
    source = block.get("source")
    if isinstance(source, dict):
        if source.get("type") == "url" and isinstance(source.get("url"), str):
            return {"type": "image_url", "image_url": {"url": source["url"]}}
        if isinstance(source.get("data"), str):
            media = source.get("media_type") or "image/png"
            return {"type": "image_url", "image_url": {"url": f"data:{media};base64,{source['data']}"}}
    return {"type": "text", "text": unknown_text(block)}


def _document(block: JsonObject) -> str:
    """The text of a document, or a placeholder for a document that is not text."""
    source = block.get("source")
    if not isinstance(source, dict):
        return unknown_text(block)
    kind = source.get("type")
    if kind == "text" and isinstance(source.get("data"), str):
        return _titled(block, None, source["data"])
    if kind == "content":
        return _titled(block, None, source.get("content"))
    if kind == "url":
        return _titled(block, source.get("url"), "")
    return _titled(block, None, f"[{source.get('media_type') or 'a file'}: its content cannot be read here]")


def _titled(block: JsonObject, source: object, content: object) -> str:
    """Title, context and source of a document, one per line, then its text."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        content = "\n".join(text for text in texts if isinstance(text, str))
    lines = (block.get("title"), block.get("context"), source, content)
    return "\n".join(line for line in lines if line and isinstance(line, str))


def result_content(block: JsonObject, index: int) -> str | list[JsonObject]:
    """The content of a tool message. Chat has no error flag, so the text begins with "Error"."""
    content = block.get("content")
    if isinstance(content, str) and not block.get("is_error"):
        return content
    parts = parts_of(blocks_of(content, f"content[{index}].content"))
    if block.get("is_error"):
        first = parts[0].get("text", "") if parts else ""
        if "error" not in first[:32].lower():
            parts.insert(0, {"type": "text", "text": "Error"})
    return joined(parts)
