"""Chunks → the pieces of a response body, each of which is one write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moongate.payload import JsonObject, dumps

CONTENT_TYPES: Final = {"ndjson": "application/x-ndjson"}  # else text/event-stream


def content_type(framing: str) -> str:
    return CONTENT_TYPES.get(framing, "text/event-stream; charset=utf-8")


def framed(chunks: Iterable[JsonObject], framing: str, *, done: bool) -> list[bytes]:
    """The pieces of the stream in this framing; `done` appends `[DONE]` where the framing has one."""
    if framing == "ndjson":
        return [dumps(chunk) + b"\n" for chunk in chunks]
    events = [b"data: " + dumps(chunk) + b"\n\n" for chunk in chunks]
    if done:
        events.append(b"data: [DONE]\n\n")
    match framing:
        case "crlf":
            return [event.replace(b"\n", b"\r\n") for event in events]
        case "nospace":
            return [event.replace(b"data: ", b"data:", 1) for event in events]
        case "comments":
            return [b": still here\n\n" + event for event in events]
        case "bytes":
            return [bytes((byte,)) for event in events for byte in event]
        case "one":
            return [b"".join(events)]
        case _:
            return events
