"""Finds the token usage in a body that is passed on unread: its beginning and its end are kept, nothing else. Pure."""

from __future__ import annotations

from typing import Final

from moongate.payload import JsonObject, object_of

KEPT: Final = 16 * 1024  # bytes of the beginning, and of the end
MAX_OBJECT: Final = 2048  # bytes of a usage
MAX_TRIES: Final = 4  # the name may also stand in a text
_NAME: Final = b'"usage"'


class UsageWatch:
    """`feed` what passes; then `usage`, with the names of chat completions."""

    __slots__ = ("_head", "_tail")

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""

    def feed(self, data: bytes) -> None:
        missing = KEPT - len(self._head)
        if missing > 0:
            self._head += data[:missing]
            data = data[missing:]
        if data:
            self._tail = (self._tail + data[-KEPT:])[-KEPT:]

    def usage(self) -> JsonObject | None:
        """The last usage found. It stands at the end of documents and of streams."""
        kept = (self._head + self._tail)[-KEPT:]
        return _last_usage(kept) or _last_usage(self._head)


def _last_usage(data: bytes) -> JsonObject | None:
    end = len(data)
    for _ in range(MAX_TRIES):
        end = data.rfind(_NAME, 0, end)
        if end < 0:
            break
        rest = data[end + len(_NAME) : end + len(_NAME) + MAX_OBJECT].lstrip()
        if rest.startswith(b":") and (found := _counts(rest[1:].lstrip())) is not None:
            return found
    return None


def _counts(data: bytes) -> JsonObject | None:
    """The counts in the object that these bytes begin with."""
    depth = 0
    for at, byte in enumerate(data):
        depth += (byte == 0x7B) - (byte == 0x7D)
        if not depth:
            found = object_of(data[: at + 1]) or {}
            if "prompt_tokens" in found:
                return {"completion_tokens": 0, **found}  # embeddings have none
            if "input_tokens" in found:
                return {"prompt_tokens": found["input_tokens"], "completion_tokens": found.get("output_tokens", 0)}
            return None
    return None
