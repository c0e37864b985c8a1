"""Token usage of a stream that the gateway needs and the client has not asked for.

The request asks the provider for it (`stream_options.include_usage`); what comes for that is taken out of the stream
again, so that the client gets the stream that it asked for.
"""

from __future__ import annotations

from moongate.chat.items import Chunk
from moongate.payload import JsonObject


def with_usage_requested(request: JsonObject) -> JsonObject:
    """The chat request that asks for usage; the same object if it is no stream, or if the client asks for it."""
    options = request.get("stream_options")
    if request.get("stream") is not True or not isinstance(options, dict | None):
        return request
    if options and options.get("include_usage"):
        return request
    return {**request, "stream_options": {**(options or {}), "include_usage": True}}


class UsageFilter:
    """Takes the usage chunk out of one stream. Usage that comes with a choice is sent unasked, and stays."""

    __slots__ = ("_removed",)

    def __init__(self) -> None:
        self._removed: JsonObject | None = None

    def filter(self, chunk: Chunk) -> Chunk | None:
        """What is left of a chunk with usage; None: nothing."""
        usage = chunk.payload["usage"]
        if not chunk.payload.get("choices"):
            self._removed = usage
            return None
        if usage != self._removed:
            return chunk
        # A transformer has repeated it at the end of the stream.
        return Chunk.of({name: value for name, value in chunk.payload.items() if name != "usage"})
