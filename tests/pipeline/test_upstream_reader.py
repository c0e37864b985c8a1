"""Bytes → items, whatever framing they came in."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.cuts import every_cut

from moongate.chat.items import Chunk, Done, Failure
from moongate.errors import BadUpstream, UpstreamRefused
from moongate.pipeline.upstream_reader import AnswerDocument, UpstreamReader

CHUNK = b'{"choices":[{"index":0,"delta":{"content":"a"}}]}'
ANSWER = b'{"choices":[{"message":{"content":"a"}}]}'


def read(parts: list[bytes], content_type: str) -> list[Any]:
    upstream = UpstreamReader(content_type, limit=200)
    items: list[Any] = [item for part in parts for item in upstream.feed(part)]
    last = upstream.close()
    return [*items, last] if isinstance(last, AnswerDocument) else [*items, *last]


def kinds(items: list[Any]) -> list[str]:
    return [type(item).__name__ for item in items if isinstance(item, Chunk | Done | Failure | AnswerDocument)]


@pytest.mark.parametrize(
    ("data", "content_type", "expected"),
    [
        (b"data: " + CHUNK + b"\n\ndata: [DONE]\n\n", "text/event-stream", ["Chunk", "Done"]),
        (b"data: " + CHUNK + b"\n\ndata: [DONE]", "application/json", ["Chunk", "Done"]),
        (b"\xef\xbb\xbf\r\n\r\ndata: [DONE]\n\n", "text/event-stream", ["Done"]),
        (CHUNK + b"\n" + CHUNK, "application/x-ndjson", ["Chunk", "Chunk"]),
        (b"\n" + CHUNK + b"\n" + CHUNK + b"\n", "application/json", ["Chunk", "Chunk"]),
        (b"\xef\xbb\xbf" + CHUNK + b"\n" + CHUNK + b"\n", "text/event-stream", ["Chunk", "Chunk"]),
        (ANSWER, "application/json", ["AnswerDocument"]),
        (b"\xef\xbb\xbf \n" + ANSWER + b"\n", "text/event-stream", ["AnswerDocument"]),
        (b"[1]", "application/json", ["AnswerDocument"]),
        (b"{\n" + CHUNK, "application/json", ["AnswerDocument"]),
        (b"<html>", "text/html", []),
        (b" \n ", "application/json", []),
        (b"\xef\xbb", "application/json", []),
        (b"\xef\xbb\xbf", "application/json", []),
        (b"", "text/event-stream", []),
    ],
)
def test_the_framing_is_chosen_at_the_first_byte(data: bytes, content_type: str, expected: list[str]) -> None:
    for cuts in every_cut(data):
        assert kinds(read(cuts, content_type)) == expected


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b"data: " + b"x" * 60, "text/event-stream"),
        (b"{" + b"x" * 60, "application/x-ndjson"),
        (b'{"a":' + b"1" * 60, "application/json"),
        (b" " * 60, "application/json"),
    ],
)
def test_every_framing_has_a_limit(data: bytes, content_type: str) -> None:
    for cuts in every_cut(data):
        upstream = UpstreamReader(content_type, limit=40, document_limit=40)
        for part in cuts:
            upstream.feed(part)
        assert upstream.overflow


def test_a_line_labelled_as_a_document_has_the_limit_of_a_line() -> None:
    upstream = UpstreamReader("application/json", limit=40)
    upstream.feed(b"{}\n" + b"{" + b" " * 50 + b"}\n")
    upstream.close()
    assert upstream.overflow


def test_documents() -> None:
    assert AnswerDocument.of(ANSWER).body() == {"choices": [{"message": {"content": "a"}}]}
    with pytest.raises(BadUpstream, match="not a JSON object"):
        AnswerDocument.of(b"[]").body()
    with pytest.raises(UpstreamRefused, match="full"):
        AnswerDocument.of(b'{"error":{"message":"full"}}').body()
    with pytest.raises(BadUpstream, match="no choices"):
        AnswerDocument.of(b"{}").body()


@pytest.mark.parametrize(
    ("content_type", "began", "message", "code"),
    [
        ("text/event-stream", True, "the provider's stream ended before the answer was complete", None),
        ("text/html", True, "the provider's stream ended before the answer was complete", None),
        ("text/event-stream", False, "the provider's stream ended before it began", None),
        ("Text/HTML; charset=utf-8", False, "the provider answered with a web page (text/html)", "web_page"),
    ],
)
def test_an_answer_that_ends_too_early(content_type: str, began: bool, message: str, code: str | None) -> None:
    error = UpstreamReader(content_type).unfinished(began=began)
    assert (error.message, error.code) == (message, code)
