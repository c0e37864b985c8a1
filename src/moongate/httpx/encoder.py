"""Chat streams for SDKs: like the chat front's, without empty types on later deltas of a call.

The openai SDK's `.stream()` keeps the last `type` that it sees, and fails on a call without one. The core passes such
deltas as they came, because clients that read the protocol do not mind them.
"""

from __future__ import annotations

from typing import Any

from moongate.chat.items import Chunk, Item
from moongate.dialects.openai_chat import ChatEncoder
from moongate.errors import GatewayError
from moongate.payload import JsonObject


class SdkEncoder:
    """Items of one answer → server-sent events."""

    failure: GatewayError | None = None

    def __init__(self) -> None:
        self._chat = ChatEncoder()

    def feed(self, item: Item) -> bytes:
        if isinstance(item, Chunk):
            item = _without_empty_types(item)
        return self._chat.feed(item)

    def close(self) -> bytes:
        return b""


def _without_empty_types(chunk: Chunk) -> Chunk:
    choices = chunk.payload.get("choices")
    if not isinstance(choices, list) or not any(map(_has_empty_type, choices)):
        return chunk
    return Chunk({**chunk.payload, "choices": [_typed_choice(choice) for choice in choices]})


def _calls(choice: Any) -> list[Any]:
    delta = choice.get("delta") if isinstance(choice, dict) else None
    calls = delta.get("tool_calls") if isinstance(delta, dict) else None
    return calls if isinstance(calls, list) else []


def _is_untyped(call: Any) -> bool:
    return isinstance(call, dict) and not call.get("type", True)


def _has_empty_type(choice: Any) -> bool:
    return any(map(_is_untyped, _calls(choice)))


def _typed_choice(choice: Any) -> Any:
    if not _has_empty_type(choice):
        return choice
    calls = [_without_type(call) if _is_untyped(call) else call for call in _calls(choice)]
    return {**choice, "delta": {**choice["delta"], "tool_calls": calls}}


def _without_type(call: JsonObject) -> JsonObject:
    return {key: value for key, value in call.items() if key != "type"}
