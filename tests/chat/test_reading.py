"""Frames and bytes → items."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.cuts import every_cut

from moongate.chat.items import Chunk, Done, Failure, Item, Opaque, Stretch
from moongate.chat.mould import TextChunk
from moongate.chat.reading import EventReader, is_answer, item_of, refusal_of
from moongate.wire.frames import Frame
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


def texts(items: list[Item | Stretch]) -> list[str]:
    said: list[str] = []
    for each in items:
        if isinstance(each, Stretch):
            said += [json.loads(b'"' + text + b'"') for text in each.texts]
        elif isinstance(each, Chunk):
            said.append(each.payload["choices"][0]["delta"]["content"])
    return said


def reader_with_mould() -> EventReader:
    reader = EventReader(SseDecoder())
    assert texts(reader.feed(event("1") + event("2"))) == ["1", "2"]
    return reader


def test_the_first_chunks_are_read_then_reads_become_stretches() -> None:
    reader = EventReader(SseDecoder())
    assert reader.stretch(event("0")) is None
    reader = reader_with_mould()
    stretch = reader.stretch(event("3") + event("4"))
    assert stretch is not None
    assert stretch.text == b"34"
    assert reader.stretch(event("3") + b": ping\n\n") is None


def test_a_new_mould_is_asked_about_once_and_not_in_the_middle_of_an_event() -> None:
    reader = EventReader(SseDecoder())
    assert reader.next_stretch() is None
    reader.feed(event("1"))
    stretch = reader.next_stretch()
    assert stretch is not None
    assert (stretch.raw, stretch.text, stretch.field, stretch.choice) == (b"", b"", "content", 0)
    assert reader.groove(b"<").prefix + b"1" + reader.groove(b"<").suffix == event("1")
    assert reader.next_stretch() is None
    reader.feed(event("2", model="other") + event("3")[:9])
    assert reader.next_stretch() is None


def test_every_cut_gives_the_same_texts() -> None:
    data = event("3") + event("4") + b": ping\n\n" + event('"') + event("5", model="m") + event("6")
    for cuts in every_cut(data):
        reader = reader_with_mould()
        said: list[str] = []
        for part in cuts:
            stretch = reader.stretch(part)
            said += texts([stretch] if stretch is not None else reader.feed(part))
        assert said == ["3", "4", '"', "5", "6"]
        assert reader.close() == []


def test_an_event_that_waits_is_not_copied_again_and_again() -> None:
    reader = reader_with_mould()
    long = event("x" * 5000)
    assert reader.feed(long[:4500]) == []
    assert reader.feed(long[4500:4600]) == []
    assert texts(reader.feed(long[4600:])) == ["x" * 5000]
    assert isinstance(reader.feed(event("a"))[0], Stretch)


def test_refused_stretches_are_told_one_by_one_and_pause_the_fast_path() -> None:
    reader = reader_with_mould()
    for pause in (0, 1, 3, 7):
        stretch = reader.stretch(event("3") + event("4"))
        assert stretch is not None
        assert texts(list(reader.refused(stretch))) == ["3", "4"]
        for _ in range(pause):
            assert reader.stretch(event("5")) is None
            (chunk,) = reader.feed(event("5"))
            assert isinstance(chunk, TextChunk)
            assert chunk.text == "5"
    stretch = reader.stretch(event("3"))
    assert stretch is not None
    reader.refused(stretch)
    both = reader.feed(event("6") + event("7"))
    assert texts(both) == ["6", "7"]
    assert all(isinstance(each, TextChunk) for each in both)


def test_a_stretch_that_is_refused_late_knows_where_it_came_from() -> None:
    """The read that gave the stretch may also have given the next mould."""
    reader = reader_with_mould()
    items = reader.feed(event("3") + event("4", model="m") + event("5", model="m"))
    stretch = items[0]
    assert isinstance(stretch, Stretch)
    assert [each.encode() for each in reader.refused(stretch) if isinstance(each, Chunk)] == [event("3")]


def test_close_and_overflow_are_those_of_the_decoder() -> None:
    reader = EventReader(SseDecoder(limit=20))
    assert reader.feed(b"data: [DONE]") == []
    assert reader.close() == [Done(b"data: [DONE]\n\n")]
    assert not reader.overflow
    reader.feed(b"data: " + b"x" * 20)
    assert reader.overflow


def test_a_stretch_leaves_a_groove() -> None:
    reader = EventReader(SseDecoder())
    reader.feed(event("1") + event("2"))
    assert reader.stretch(event("3")) is not None
    groove = reader.groove(b"<")
    assert groove.text(event("4")) == b"4"
    assert groove.text(event("<")) is None


def test_a_first_chunk_that_ends_otherwise_than_the_rest_does_not_keep_them_from_a_mould() -> None:
    reader = EventReader(SseDecoder())
    first = event("1").replace(b'"1"', b'"1", "role": "assistant"')
    assert texts(reader.feed(first)) == ["1"]
    assert texts(reader.feed(event("2"))) == ["2"]
    assert reader.stretch(event("3")) is not None
