"""Builders for chat answers that tests feed to encoders, and a parser for the encoded events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from moongate.chat.contracts import Encoder
from moongate.chat.items import Chunk, Done, Item

HEAD = {"id": "chatcmpl-abc", "object": "chat.completion.chunk", "created": 1700000000, "model": "kimi"}
USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 5}}


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **choice: Any) -> Chunk:
    """One chunk of the first choice."""
    return Chunk.of({**HEAD, "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish, **choice}]})


def text_delta(text: str) -> Chunk:
    return chunk({"content": text})


def reasoning_delta(text: str) -> Chunk:
    return chunk({"reasoning_content": text})


def call_delta(index: int, call: str, name: str, arguments: str = "") -> Chunk:
    """The first delta of a call."""
    function = {"name": name, "arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": call, "type": "function", "function": function}]})


def args_delta(index: int, arguments: str) -> Chunk:
    """A later delta of a call."""
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})


def custom_delta(index: int, text: str, **first: str) -> Chunk:
    """A delta of a call of a custom tool; its first one has `id` and `name`."""
    entry: dict[str, Any] = {"index": index, "custom": {"input": text}}
    if first:
        entry = {"index": index, "id": first["id"], "type": "custom", "custom": {"name": first["name"], "input": text}}
    return chunk({"tool_calls": [entry]})


def usage_chunk(usage: dict[str, Any] | None = None) -> Chunk:
    return Chunk.of({**HEAD, "choices": [], "usage": usage or USAGE})


def completion(message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A non-streamed completion."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE, **more}


def tool_call(call: str, name: str, arguments: str) -> dict[str, Any]:
    """A call in a message of a non-streamed completion."""
    return {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}


def custom_call(call: str, name: str, text: str) -> dict[str, Any]:
    """A call of a custom tool in a message of a non-streamed completion."""
    return {"id": call, "type": "custom", "custom": {"name": name, "input": text}}


def encoded(encoder: Encoder, items: Iterable[Item]) -> bytes:
    """All bytes of an answer that ends with `[DONE]`."""
    return b"".join(encoder.feed(item) for item in (*items, Done())) + encoder.close()


def events(data: bytes) -> list[dict[str, Any]]:
    """The data of server-sent events whose `event:` line names the data's type."""
    found = []
    for block in data.decode("utf-8").split("\n\n"):
        if block:
            name, text = block.split("\n")
            payload: dict[str, Any] = json.loads(text.removeprefix("data: "))
            assert name == f"event: {payload['type']}"
            found.append(payload)
    return found
