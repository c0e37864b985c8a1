"""Events of a provider's stream, about a token each, and the reads that they come in."""

from __future__ import annotations

import json

MODEL = "moonshotai/Kimi-K2-Instruct-0905"


def chunk(delta: object, reason: str | None = None) -> bytes:
    payload = {
        "id": "chatcmpl-8f2c61f0a4f94b5e",
        "object": "chat.completion.chunk",
        "created": 1762990000,
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
        "system_fingerprint": "fp_0a1b2c3d",
    }
    return b"data: " + json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"


def text_events(count: int) -> list[bytes]:
    """Ordinary prose, a few words at a time."""
    words = [
        "The function ",
        "reads the file, ",
        "then returns\n",
        "its lines one by one. ",
        "It is not “fast”, ",
        "but ",
    ]
    return [chunk({"content": words[at % len(words)]}) for at in range(count)]


def marker_events(count: int) -> list[bytes]:
    """Calls in markers, one after the other, in pieces of about a token."""
    texts: list[str] = []
    at = 0
    while len(texts) < count:
        begin = "" if at else "<|tool_calls_section_begin|>"
        texts += [
            f"{begin}<|tool_call_begin|>",
            f"functions.read_file:{at}",
            "<|tool_call_argument_begin|>",
            '{"path": ',
            '"src/',
            "moongate/",
            f"file_{at}",
            '.py"}',
            "<|tool_call_end|>",
        ]
        at += 1
    return [chunk({"content": text}) for text in texts[:count]]


def call_events(count: int) -> list[bytes]:
    """Native calls, their arguments in pieces of about a token."""
    texts = ['{"path": ', '"src/', "moongate/", "file", '.py"}']
    deltas: list[dict[str, object]] = []
    for at in range(count // 6 + 1):
        call = {"index": at, "id": f"functions.read_file:{at}", "type": "function"}
        deltas.append({**call, "function": {"name": "read_file", "arguments": ""}})
        deltas += [{"index": at, "function": {"arguments": text}} for text in texts]
    return [chunk({"tool_calls": [delta]}) for delta in deltas[:count]]


def reads(events: list[bytes], per_read: int) -> list[bytes]:
    return [b"".join(events[at : at + per_read]) for at in range(0, len(events), per_read)]


def misaligned(events: list[bytes], size: int) -> list[bytes]:
    data = b"".join(events)
    return [data[at : at + size] for at in range(0, len(data), size)]
