"""Frames and bytes → items."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.cuts import every_cut

from moongate.chat.event_reader import EventReader, is_answer, item_of, refusal_of, web_page
from moongate.chat.items import Chunk, Done, Failure, Item, Opaque
from moongate.wire.frames import Frame
from moongate.wire.ndjson import NdjsonDecoder
from moongate.wire.sse import SseDecoder


def item(data: bytes | None, event: str = "") -> Item:
    return item_of(Frame(b"raw", data, event))


def test_what_frames_mean() -> None:
    assert item(None) == Opaque(b"raw")
    assert item(b"  ") == Opaque(b"raw")
    assert item(b"[DONE]") == Done(b"raw")
    assert item(b"[DONE] ") == Done(b"raw")
    chunk = item(b'{"a":1,"error":null}')
    assert isinstance(chunk, Chunk)
    assert (chunk.payload, chunk.raw) == ({"a": 1, "error": None}, b"raw")


def test_broken_utf8_is_read_with_replacement_and_written_anew() -> None:
    chunk = item(b'{"a":"\xff"}')
    assert isinstance(chunk, Chunk)
    assert chunk.payload == {"a": "\ufffd"}
    assert chunk.raw is None


@pytest.mark.parametrize(
    "data",
    [
        b'{"choices":[],"choices":[{"index":0}]}',
        b'{"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}',
        b'{"id":"a","\\u0069d":"\\u003a"}',
        b'{"error":null,"error":{"message":"no"}}',
    ],
)
def test_what_repeats_a_key_keeps_its_bytes(data: bytes) -> None:
    """A repeated key breaks no rule: what is not repaired leaves as it came."""
    found = item(data)
    assert isinstance(found, Chunk | Failure)
    assert found.raw == b"raw"


@pytest.mark.parametrize("data", [b"{", b"[]", b"1", b'"a"', b"[DONE", b"null", b"\xff"])
def test_an_event_that_is_no_object_is_a_failure(data: bytes) -> None:
    failure = item(data)
    assert isinstance(failure, Failure)
    assert failure.error.status == 502
    assert failure.raw is None


def test_an_error_of_the_provider_is_a_failure_with_its_bytes() -> None:
    failure = item(b'{"error":{"message":"too fast","code":429}}')
    assert isinstance(failure, Failure)
    assert (failure.error.message, failure.error.status, failure.error.code) == ("too fast", 429, "429")
    assert failure.raw == b"raw"


@pytest.mark.parametrize(("data", "message"), [(b'{"message":"full"}', "full"), (b"full", "full"), (b"1", "1")])
def test_an_event_named_error_is_one(data: bytes, message: str) -> None:
    failure = item(data, "error")
    assert isinstance(failure, Failure)
    assert failure.error.message == message
    assert failure.raw is None


@pytest.mark.parametrize(
    ("payload", "message", "status", "code"),
    [
        ({"error": "no"}, "no", 502, None),
        ({"error": ["no"]}, "the provider reported an error", 502, None),
        ({"error": ""}, "the provider reported an error", 502, None),
        ({"error": {"message": "", "code": "overloaded"}}, "the provider reported an error", 502, "overloaded"),
        ({"error": {"message": "m", "status": 503}}, "m", 503, None),
        ({"error": {"message": "m", "status_code": 99, "code": True}, "code": 404}, "m", 404, "True"),
    ],
)
def test_refusals(payload: dict[str, Any], message: str, status: int, code: str | None) -> None:
    error = refusal_of(payload)
    assert (error.message, error.status, error.code) == (message, status, code)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"choices": [{"message": {"content": "a"}}]}, True),
        ({"choices": [{"message": {"content": [], "tool_calls": []}}, {"message": {}}]}, True),
        ({}, False),
        ({"choices": []}, False),
        ({"choices": {}}, False),
        ({"choices": [None]}, False),
        ({"choices": [{"message": None}]}, False),
        ({"choices": [{"message": {"content": {}}}]}, False),
        ({"choices": [{"message": {"tool_calls": {}}}]}, False),
    ],
)
def test_documents_that_are_answers(body: dict[str, Any], answer: bool) -> None:
    assert is_answer(body) is answer


def event(text: str, **more: Any) -> bytes:
    body = {"choices": [{"index": 0, "delta": {"content": text}}], **more}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def texts(items: list[Item]) -> list[str]:
    return [each.payload["choices"][0]["delta"]["content"] for each in items if isinstance(each, Chunk)]


def test_every_cut_gives_the_same_items() -> None:
    data = event("3") + event("4") + b": ping\n\n" + event('"') + event("5", model="m") + event("6")
    for cuts in every_cut(data):
        reader = EventReader(SseDecoder())
        items = [item for part in cuts for item in reader.feed(part)]
        assert texts(items) == ["3", "4", '"', "5", "6"]
        assert reader.close() == []


def test_lines_are_events_too() -> None:
    reader = EventReader(NdjsonDecoder())
    assert texts(reader.feed(event("1")[6:-1] + event("2")[6:-1])) == ["1", "2"]


def test_close_and_overflow_are_those_of_the_decoder() -> None:
    reader = EventReader(SseDecoder(limit=20))
    assert reader.feed(b"data: [DONE]") == []
    assert reader.close() == [Done(b"data: [DONE]\n\n")]
    assert not reader.decoder.overflow
    reader.feed(b"data: " + b"x" * 20)
    assert reader.decoder.overflow


def test_an_event_with_too_many_values_is_a_failure() -> None:
    data = b'{"choices":[' + b"[]," * 600_000 + b"[]]}"
    [item] = EventReader(SseDecoder(1 << 23)).feed(b"data: " + data + b"\n\n")
    assert isinstance(item, Failure)
    assert "too many JSON values" in str(item.error)


def test_an_error_that_is_too_long_is_neither_cut_nor_passed_on() -> None:
    long = "x" * 20_000
    failure = item(json.dumps({"error": {"message": long, "code": long}}).encode())
    assert isinstance(failure, Failure)
    assert failure.raw is None
    assert failure.error.message == "the provider reported an error of 20000 characters"
    assert failure.error.code is None


def test_nothing_is_read_behind_a_failure() -> None:
    """Each event that is no JSON takes as long as ten that are."""
    items = EventReader(SseDecoder()).feed(b"data: {}\n\n" + b"data: {x\n\n" * 1000)
    assert [type(each) for each in items] == [Chunk, Failure]


def test_a_web_page_is_known_by_its_content_type() -> None:
    assert web_page("text/event-stream") is None
    found = web_page("Text/HTML; charset=utf-8")
    assert found is not None
    assert (found.code, "web page" in found.message) == ("web_page", True)
