"""The framing of an answer: by its content type, unless its first byte shows another one."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from moongate.wire.frames import EVENT_LIMIT, Decoder
from moongate.wire.ndjson import NdjsonDecoder
from moongate.wire.sse import SseDecoder

Framing = Literal["sse", "ndjson", "document"]

_BY_TYPE: Final[dict[str, Framing]] = {
    "text/event-stream": "sse",
    "application/x-ndjson": "ndjson",
    "application/ndjson": "ndjson",
    "application/jsonl": "ndjson",
    "application/x-jsonlines": "ndjson",
    "application/jsonlines": "ndjson",
    "application/json": "document",
}
_EVENT_STARTS: Final = b":deir"  # a comment, data, event, id, retry: no JSON text begins with one of these


def declared_framing(content_type: str) -> Framing | None:
    """The framing that a content type stands for; None if it is unknown. Parameters and case do not matter."""
    name = content_type.partition(";")[0].strip().lower()
    if name in _BY_TYPE:
        return _BY_TYPE[name]
    return "document" if name.endswith("+json") else None


@lru_cache(maxsize=256)
def framing_of(content_type: str, first: bytes) -> Framing:
    """The framing of an answer whose first byte that is not blank is `first`.

    Hosts mislabel: event streams come as `text/plain`, errors come as one document labelled a stream.
    """
    declared = declared_framing(content_type)
    if first == b"{":
        return "ndjson" if declared == "ndjson" else "document"
    if first in _EVENT_STARTS or declared is None:
        return "sse"
    return declared


def decoder_for(content_type: str, limit: int = EVENT_LIMIT) -> Decoder | None:
    """The decoder of a stream with this content type; None for one document."""
    declared = declared_framing(content_type)
    if declared == "document":
        return None
    return NdjsonDecoder(limit) if declared == "ndjson" else SseDecoder(limit)
