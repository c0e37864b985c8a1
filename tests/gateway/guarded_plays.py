"""A scripted vendor for tests of the guard: answers with right and wrong calls, streamed or whole as it is asked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.gateway.scripted import DONE, Asked, Play

TOOL = {
    "type": "function",
    "function": {
        "name": "read",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Read a."}], "tools": [TOOL]}
RIGHT, WRONG = '{"path":"a"}', "{}"
STRICT = {"use": [["Kimi", {"preset": "strict"}]]}
FIRST = {"prompt_tokens": 70, "completion_tokens": 20, "total_tokens": 90}
SECOND = {"prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130}


def calls(arguments: str, number: int = 0) -> list[dict[str, Any]]:
    body = {"name": "read", "arguments": arguments}
    return [{"index": 0, "id": f"functions.read:{number}", "type": "function", "function": body}]


def chunks(arguments: str, usage: dict[str, int], finish: str = "tool_calls") -> list[dict[str, Any]]:
    """The payloads of a stream with a text and a call."""
    said = {"index": 0, "delta": {"role": "assistant", "content": "I read."}, "finish_reason": None}
    called = {"index": 0, "delta": {"tool_calls": calls(arguments)}, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": finish}
    envelope = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return [*({**envelope, "choices": [each]} for each in (said, called, ended)),
            {**envelope, "choices": [], "usage": usage}]  # fmt: skip


def completion(arguments: str, usage: dict[str, int], finish: str = "tool_calls") -> dict[str, Any]:
    message = {"role": "assistant", "content": "I read.", "tool_calls": calls(arguments)}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def event(payload: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def answering(arguments: str, usage: dict[str, int], finish: str = "tool_calls") -> Play:
    async def play(asked: Asked) -> None:
        if not asked.json.get("stream"):
            asked.document(completion(arguments, usage, finish))
            return
        asked.begin_stream()
        asked.send(b"".join(map(event, chunks(arguments, usage, finish))) + DONE)
        asked.end_stream()

    return play


wrong, right = answering(WRONG, FIRST), answering(RIGHT, SECOND)


async def refused(asked: Asked) -> None:
    asked.document({"error": {"message": "out of order"}}, 500)


async def broken(asked: Asked) -> None:
    """The connection breaks in the middle of the answer."""
    if asked.json.get("stream"):
        asked.begin_stream()
        asked.send(event(chunks(RIGHT, SECOND)[0]))
    else:
        asked.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{")
    await asked.writer.drain()
    asked.writer.transport.abort()


async def silent(asked: Asked) -> None:
    """A stream begins, and nothing follows until the client leaves."""
    if asked.json.get("stream"):
        asked.begin_stream()
        asked.send(event(chunks(RIGHT, SECOND)[0]))
    await asyncio.Event().wait()


def in_order(*plays: Play) -> Play:
    """Each request gets the next of these, the last one for all that follow."""
    left = list(plays)

    async def play(asked: Asked) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(asked)

    return play
