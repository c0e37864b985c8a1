"""Prompts and answers as span attributes, if switched on: as they are, or in the conventions' newest form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from moongate.chat.accumulate import Accumulator
from moongate.chat.items import Chunk
from moongate.payload import JsonObject, dumps_text, object_of
from moongate.pipeline.upstream_reader import AnswerDocument, UpstreamReader

MAX_CONTENT: Final = 64 * 1024  # characters of each
MAX_SECRET: Final = 4096  # characters of a secret in any spelling
MAX_PARTS: Final = 8192  # of a message: more than can be shown

Redact = Callable[[str], str]  # masks secrets


def messages_text(request: JsonObject, newest: bool, redact: Redact = str) -> str:
    """What the client asked, as JSON: `messages` of chat completions and messages, `input` of responses.

    No more messages are looked at than are shown: a history may be megabytes.
    """
    messages = request.get("messages", request.get("input"))
    if not isinstance(messages, list):
        return _shown(dumps_text(messages), redact)
    texts: list[str] = []
    size = 0
    for each in messages:
        if newest and not isinstance(each, dict):
            continue
        texts.append(dumps_text(with_parts(each) if newest else each))
        size += len(texts[-1])
        if size > MAX_CONTENT + MAX_SECRET:
            break
    return _shown(f"[{','.join(texts)}]", redact)


def answer_text(body: str, newest: bool, redact: Redact = str) -> str:
    """What left for the client: the messages of a chat completion, whole or streamed; else the body as it is."""
    completion = _completion(body.encode("utf-8", "replace")) or {}
    choices = completion.get("choices")
    found = [each.get("message") for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []
    messages = [each for each in found if isinstance(each, dict)]
    if not messages:
        return _shown(body, redact)
    return _shown(dumps_text([with_parts(each) for each in messages] if newest else messages), redact)


def with_parts(message: JsonObject) -> JsonObject:
    """A chat message in the form of `gen_ai.input.messages`."""
    parts: list[JsonObject] = []
    content = message.get("content")
    if message.get("role") == "tool":
        parts.append({"type": "tool_call_response", "id": message.get("tool_call_id"), "response": content})
    elif isinstance(content, str) and content:
        parts.append({"type": "text", "content": content})
    elif isinstance(content, list):
        parts += [_part(each) for each in content[:MAX_PARTS]]
    calls = message.get("tool_calls")
    for call in calls[:MAX_PARTS] if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            about = {"name": function.get("name"), "arguments": function.get("arguments")}
            parts.append({"type": "tool_call", "id": call.get("id"), **about})
    return {"role": message.get("role", "assistant"), "parts": parts}


def _part(part: Any) -> JsonObject:
    if isinstance(part, dict) and part.get("type") == "text":
        return {"type": "text", "content": part.get("text")}
    return part if isinstance(part, dict) else {"type": "text", "content": str(part)}


def _completion(body: bytes) -> JsonObject | None:
    if body.lstrip()[:1] == b"{":
        return object_of(body)
    reader, accumulator = UpstreamReader("text/event-stream"), Accumulator()
    items, rest = reader.feed(body), reader.close()
    for item in [*items, *(() if isinstance(rest, AnswerDocument) else rest)]:
        if isinstance(item, Chunk):
            accumulator.feed(item.payload)
    return accumulator.completion()


def _shown(text: str, redact: Redact) -> str:
    """As much of a text as is shown, without secrets. Its end is left out if it was cut, perhaps within one."""
    redacted = redact(text[: MAX_CONTENT + MAX_SECRET])
    return (redacted[:-MAX_SECRET] if len(text) > MAX_CONTENT + MAX_SECRET else redacted)[:MAX_CONTENT]
