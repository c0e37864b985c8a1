"""Which framing an answer has."""

from __future__ import annotations

import pytest

from moongate.wire.framing import decoder_for, framing_of
from moongate.wire.ndjson import NdjsonDecoder
from moongate.wire.sse import SseDecoder


@pytest.mark.parametrize(
    ("content_type", "first", "framing"),
    [
        ("text/event-stream", b"d", "sse"),
        ("Text/Event-Stream; charset=utf-8", b":", "sse"),
        ("application/x-ndjson", b"{", "ndjson"),
        ("application/jsonl", b"{", "ndjson"),
        ("application/json", b"{", "document"),
        ("application/problem+json", b"{", "document"),
        ("application/json", b"d", "sse"),
        ("application/x-ndjson", b"d", "sse"),
        ("application/json", b"[", "document"),
        ("application/x-ndjson", b"[", "ndjson"),
        ("text/event-stream", b"{", "document"),
        ("text/plain", b"d", "sse"),
        ("", b"{", "document"),
        ("text/html", b"<", "sse"),
    ],
)
def test_the_first_byte_corrects_the_label(content_type: str, first: bytes, framing: str) -> None:
    assert framing_of(content_type, first) == framing


def test_decoders_by_content_type() -> None:
    assert isinstance(decoder_for("text/event-stream"), SseDecoder)
    assert isinstance(decoder_for("application/x-ndjson; charset=utf-8"), NdjsonDecoder)
    assert isinstance(decoder_for("text/plain"), SseDecoder)
    assert decoder_for("application/json") is None
