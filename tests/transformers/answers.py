"""Answers of a provider for tests of transformers: whole, and as streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moongate import Chunk, Done, Exchange, Item
from moongate.chat.accumulate import Accumulator

ENVELOPE = {"id": "c1", "object": "chat.completion.chunk", "model": "m"}


def whole(message: dict[str, Any], reason: Any = "stop") -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def chunk(delta: Any, reason: Any = None, index: int = 0) -> Chunk:
    return Chunk.of({**ENVELOPE, "choices": [{"index": index, "delta": delta, "finish_reason": reason}]})


def call(name: str, arguments: str, index: int = 0, call_id: str = "call_1") -> dict[str, Any]:
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def more(arguments: str, index: int = 0) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}}


def fed(exchange: Exchange, items: Iterable[Item]) -> list[Item]:
    """Everything that leaves, to the end of the stream."""
    return [left for item in (*items, Done()) for left in exchange.feed(item)] + [*exchange.close()]


def choice(items: Iterable[Item], at: int = 0) -> dict[str, Any]:
    """A choice of the answer that a stream makes up."""
    accumulator = Accumulator()
    for item in items:
        if isinstance(item, Chunk):
            accumulator.feed(item.payload)
    found: dict[str, Any] = accumulator.completion()["choices"][at]
    return found


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
