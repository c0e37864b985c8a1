"""Server-sent events: the WHATWG's rules, and frames that keep their bytes."""

from __future__ import annotations

import pytest
from tests.support.cuts import every_cut

from moongate.wire.frames import Frame
from moongate.wire.sse import SseDecoder


def frames_of(parts: list[bytes], limit: int = 1000) -> list[Frame]:
    decoder = SseDecoder(limit)
    return [frame for part in parts for frame in decoder.feed(part)] + decoder.close()


def events(frames: list[Frame]) -> list[tuple[bytes, str]]:
    return [(frame.data, frame.event) for frame in frames if frame.data is not None]


def raw_of(frames: list[Frame]) -> bytes:
    return b"".join(frame.raw for frame in frames)


STREAMS = {
    "plain": (b"data: {}\n\ndata: [DONE]\n\n", [(b"{}", ""), (b"[DONE]", "")]),
    "no blank after the colon": (b"data:{}\n\n", [(b"{}", "")]),
    "empty ones between": (b"data: a\n\ndata:\n\ndata: \n\ndata: b\n\n", [(b"a", ""), (b"b", "")]),
    "only one blank is dropped": (b"data:  a\n\n", [(b" a", "")]),
    "one character": (b"data:x\n\n", [(b"x", "")]),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", [(b"a", ""), (b"b", "")]),
    "CR": (b"data: a\r\rdata: b\r\r", [(b"a", ""), (b"b", "")]),
    "CR, then CRLF": (b"data: a\r\r\ndata: b\r\r\n", [(b"a", ""), (b"b", "")]),
    "LF, then CR": (b"data: a\n\rdata: b\n\r", [(b"a", ""), (b"b", "")]),
    "LF, then CRLF": (b"data: a\n\r\ndata: b\n\r\n", [(b"a", ""), (b"b", "")]),
    "CRLF, then LF": (b"data: a\r\n\ndata: b\r\n\n", [(b"a", ""), (b"b", "")]),
    "LF first, CR later": (b"data: a\n\n\ndata: b\n\r\n", [(b"a", ""), (b"b", "")]),
    "comments": (b": ping\n\n:\n\ndata: a\n\n", [(b"a", "")]),
    "fields": (b"event: chunk\nid: 7\nretry: 3\nodd\ndata: a\n\n", [(b"a", "chunk")]),
    "fields, CRLF": (b"event:chunk\r\nid: 7\r\ndata: a\r\n\r\n", [(b"a", "chunk")]),
    "several lines": (b"data: a\ndata: b\ndata\n\n", [(b"a\nb\n", "")]),
    "several lines, CR": (b"data: a\rdata: b\r\r", [(b"a\nb", "")]),
    "empty events": (b"data:\n\ndata: \n\ndata\n\ndata: a\n\n", [(b"a", "")]),
    "blank lines": (b"\n\n\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n", [(b"a", ""), (b"b", "")]),
    "line separators of Unicode": ("data: a\u2028\u0085b\n\n".encode(), [("a\u2028\u0085b".encode(), "")]),
    "a colon in the value": (b"data: a: b\n\n", [(b"a: b", "")]),
    "event name that is no text": (b"event: \xff\ndata: a\n\n", [(b"a", "\ufffd")]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("name", STREAMS)
def test_events_are_the_same_for_every_cut(name: str) -> None:
    data, expected = STREAMS[name]
    for cuts in every_cut(data):
        frames = frames_of(cuts)
        assert events(frames) == expected
        assert raw_of(frames) == data


def test_an_event_leaves_as_soon_as_it_is_complete() -> None:
    decoder = SseDecoder()
    assert events(decoder.feed(b"data: a\r\r")) == [(b"a", "")]
    assert events(decoder.feed(b"data: b\r\n\r\n")) == [(b"b", "")]
    assert events(decoder.feed(b"data: c\n\n")) == [(b"c", "")]


def test_the_byte_order_mark_is_left_out() -> None:
    data = b"\xef\xbb\xbfdata: a\n\n"
    for cuts in every_cut(data):
        assert raw_of(frames_of(cuts)) == data[3:]
    assert frames_of([b"\xef\xbb"]) == []
    assert raw_of(frames_of([b"\xef\xbb", b"\n\n"])) == b"\xef\xbb\n\n"


@pytest.mark.parametrize(
    ("data", "raw"),
    [
        (b"data: [DONE]", b"data: [DONE]\n\n"),
        (b"data: [DONE]\n", b"data: [DONE]\n\n"),
        (b'data: {"a":1}\r', b'data: {"a":1}\r\r'),
        (b"data: {}\n\r", b"data: {}\n\r"),
    ],
)
def test_a_whole_last_event_counts_without_its_blank_line(data: bytes, raw: bytes) -> None:
    for cuts in every_cut(data):
        assert raw_of(frames_of(cuts)) == raw


@pytest.mark.parametrize("data", [b'data: {"a":', b"data: [DON", b"data: text", b": comment", b"data", b"data: 1\n"])
def test_a_last_event_that_may_be_cut_does_not_count(data: bytes) -> None:
    for cuts in every_cut(data):
        assert frames_of(cuts) == []


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
@pytest.mark.parametrize("field", [b"data: ", b"other: "])
def test_an_event_may_be_as_large_as_the_limit(end: bytes, field: bytes) -> None:
    first, fits = b"data: a" + end, field + b"x" * (40 - len(field) - len(end)) + end
    for data, overflow in ((first + fits, False), (first + fits[:6] + b"y" + fits[6:], True)):
        for cuts in every_cut(data):
            decoder = SseDecoder(limit=40)
            frames = [frame for part in cuts for frame in decoder.feed(part)]
            assert decoder.overflow is overflow
            assert events(frames)[0] == (b"a", "")
            assert raw_of(frames) == (first if overflow else data)
            if overflow:
                assert decoder.feed(b"data: b" + end) == []
                assert decoder.close() == []


@pytest.mark.parametrize("begin", [b"data: ", b"data: a\r\n\r\ndata: "])
def test_an_event_that_never_ends_overflows(begin: bytes) -> None:
    decoder = SseDecoder(limit=40)
    decoder.feed(begin + b"x" * 41)
    assert decoder.overflow


@pytest.mark.parametrize("line", [b"data: a\n", b"data:\n", b"data: data: a\n"])
@pytest.mark.parametrize("other", [b"", b": ping\n", b"data\n", b"id: \0\n", b": ping\r\n"])
def test_many_lines_are_read_like_a_few(line: bytes, other: bytes) -> None:
    def data(count: int) -> bytes | None:
        decoder = SseDecoder(100_000)
        (frame,) = [*decoder.feed(line * count + other + b"\n"), *decoder.feed(b":")]
        return frame.data

    few, many = data(3), data(2000)
    value = line.removesuffix(b"\n").removeprefix(b"data:").removeprefix(b" ")
    for count, found in ((3, few), (2000, many)):
        assert found == b"\n".join([value] * count + [b""] * (other == b"data\n"))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("other", [b":", b"id: 7", b"database: x", b"", b"data", b"event"])
def test_of_many_lines_only_fields_that_we_know_count(other: bytes, end: bytes) -> None:
    few = [b"event: chunk", b": ping", b"data: a", b"data:", b"events: y"]
    for count in (3, 3000):
        lines = [*few, *[other] * (count if other else 0), b"data:  b"]
        ((data, name),) = events(frames_of([end.join(lines) + end + end], limit=100_000))
        assert data == b"\n".join([b"a", b"", *[b""] * (count if other == b"data" else 0), b" b"])
        assert name == ("" if other == b"event" else "chunk")


@pytest.mark.parametrize("empty", [b"\n", b"data:\n\n", b"data: \n\n", b"data:\n\n\ndata: \n\n"])
def test_empty_events_leave_in_one_piece(empty: bytes) -> None:
    decoder = SseDecoder()
    assert decoder.feed(empty * 9) == [Frame(empty * 9, None)]
    assert decoder.feed(b"data:") == []
    assert decoder.feed(b"\n\n" + empty * 9 + b"data: a\n\n") == [
        Frame(b"data:\n\n" + empty * 9, None),
        Frame(b"data: a\n\n", b"a"),
    ]
    assert decoder.feed(b"data:\nid: 7\n\n") == [Frame(b"data:\nid: 7\n\n", None)]


def test_waiting_bytes_can_be_taken_back() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: a\n\ndata: ")
    assert decoder.buffered == 6
    assert decoder.take() == b"data: "
    assert decoder.buffered == 0
    assert events(decoder.feed(b"data: b\n\n")) == [(b"b", "")]
