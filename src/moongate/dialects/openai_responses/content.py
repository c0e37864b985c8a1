"""The content parts of Responses items → chat content."""

from __future__ import annotations

from typing import Final

from moongate.errors import BadRequest
from moongate.payload import JsonObject, dumps_text

_TEXTS: Final = ("input_text", "output_text", "text", "summary_text", "reasoning_text")  # types of parts


def chat_content(content: object, path: str) -> str | list[JsonObject]:
    """One string if every part is text, because all hosts accept that; else chat parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):  # a tool result that is an object: the model gets its JSON
        return dumps_text(content)
    if not isinstance(content, list):
        raise BadRequest("must be a string or a list of parts", path=path)
    if len(content) == 1 and isinstance(content[0], dict) and content[0].get("type") in _TEXTS:
        text = content[0].get("text")
        return text if isinstance(text, str) else ""
    parts = [_part(part) for part in content]
    parts = [part for part in parts if part.get("text") != ""]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _part(part: object) -> JsonObject:
    if not isinstance(part, dict):
        return {"type": "text", "text": part if isinstance(part, str) else dumps_text(part)}
    kind = part.get("type")
    if kind in _TEXTS:
        text = part.get("text")
        return {"type": "text", "text": text if isinstance(text, str) else ""}
    if kind == "refusal" and isinstance(part.get("refusal"), str):
        return {"type": "text", "text": part["refusal"]}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        image: JsonObject = {"url": part["image_url"]}
        if part.get("detail") in ("low", "high"):
            image["detail"] = part["detail"]
        return {"type": "image_url", "image_url": image}
    if kind in ("image_url", "input_audio", "video_url"):  # already in chat's format
        return part
    if kind == "input_file":
        name = part.get("filename") or part.get("file_url") or part.get("file_id") or "a file"
        return {"type": "text", "text": f"[{name}: its content cannot be read here]"}
    return {"type": "text", "text": dumps_text(part)}
