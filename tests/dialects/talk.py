"""Chat answers to feed encoders with, and a reader for the events that come out."""

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


def says(text: str) -> Chunk:
    return chunk({"content": text})


def thinks(text: str) -> Chunk:
    return chunk({"reasoning_content": text})


def calls(index: int, call: str, name: str, arguments: str = "") -> Chunk:
    """The first delta of a call."""
    function = {"name": name, "arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": call, "type": "function", "function": function}]})


def argues(index: int, arguments: str) -> Chunk:
    """A later delta of a call."""
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})


def counted(usage: dict[str, Any] | None = None) -> Chunk:
    return Chunk.of({**HEAD, "choices": [], "usage": usage or USAGE})


def whole(message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A whole completion."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE, **more}


def called(call: str, name: str, arguments: str) -> dict[str, Any]:
    """A call of a whole message."""
    return {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}


def written(encoder: Encoder, items: Iterable[Item]) -> bytes:
    """All bytes of an answer that ends as it should."""
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
