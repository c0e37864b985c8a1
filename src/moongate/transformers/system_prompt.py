"""An instruction of the gateway's own: at the end of the system prompt, where it leaves prompt caches good."""

from __future__ import annotations

from typing import Any

from moongate.payload import JsonObject


def with_instruction(request: JsonObject, text: str) -> JsonObject:
    """The request with this text at the end of its first system message, or as one of its own in front.

    >>> with_instruction({"messages": [{"role": "system", "content": "Be brief."}]}, "Be kind.")["messages"]
    [{'role': 'system', 'content': 'Be brief.\\n\\nBe kind.'}]
    """
    messages = request.get("messages")
    if not text or not isinstance(messages, list):
        return request
    if messages and isinstance(messages[0], dict) and messages[0].get("role") in ("system", "developer"):
        content = _extended(messages[0].get("content"), text)
        return {**request, "messages": [{**messages[0], "content": content}, *messages[1:]]}
    return {**request, "messages": [{"role": "system", "content": text}, *messages]}


def _extended(content: Any, text: str) -> Any:
    if isinstance(content, list):
        return [*content, {"type": "text", "text": text}]
    return f"{content}\n\n{text}" if isinstance(content, str) and content else text
