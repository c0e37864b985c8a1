"""The reader alone: every answer whole, byte by byte and cut at each place."""

from __future__ import annotations

import pytest
from tests.support.cuts import every_cut

from moongate.net.response_reader import MAX_HEAD, MAX_HEADERS, ResponseReader

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def read(parts: list[bytes]) -> tuple[ResponseReader, bytes]:
    reader = ResponseReader()
    return reader, b"".join([reader.feed(part) for part in parts])


GOOD = {
    "length": (HEAD + b"Content-Length: 5\r\n\r\nhello", b"hello", True),
    "no body": (HEAD + b"Content-Length: 0\r\n\r\n", b"", True),
    "204": (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
    "304": (b"HTTP/1.1 304 Not Modified\r\n\r\n", b"", True),
    "chunks": (CHUNKED + b"3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n", b"hello", True),
    "close": (HEAD + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello", b"hello", False),
    "1.0": (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", b"hello", False),
    "interim": (b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\nok", b"ok", False),
    "hints": (b"HTTP/1.1 103 Early\r\n\r\n" * 3 + HEAD + b"Content-Length: 2\r\n\r\nok", b"ok", False),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", b"ok", True),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_answer_is_read_however_it_is_cut(name: str) -> None:
    data, expected, reusable = GOOD[name]
    for parts in every_cut(data):
        reader, body = read(parts)
        assert (body, reader.complete, reader.failure, reader.reusable) == (expected, True, None, reusable)
        assert reader.status in (200, 204, 304)


BAD = {
    "length and chunks": HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "two other lengths": HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "signed length": HEAD + b"Content-Length: +5\r\n\r\nhello",
    "huge length": HEAD + b"Content-Length: 99999999999999999999\r\n\r\n",
    "other coding": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "unknown coding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "coding twice": HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "interim, then chunks in 1.0": b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks in 1.0": b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunk size": CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n",
    "chunk size sign": CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n",
    "chunk too long": CHUNKED + b"3\r\nhello\r\n0\r\n\r\n",
    "chunk overflow": CHUNKED + b"fffffffffffffffff\r\n",
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "folded": HEAD + b"A: b\r\n c\r\nContent-Length: 5\r\n\r\nhello",
    "space before colon": HEAD + b"A : b\r\n\r\n",
    "NUL": HEAD + b"A: b\0\r\n\r\n",
    "not HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "HTTP/2": b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "status": b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n",
    "low status": b"HTTP/1.1 042 No\r\nContent-Length: 0\r\n\r\n",
    "upgrade": b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\nblob",
    "bare upgrade": b"HTTP/1.1 101 Switching\r\n\r\nblob",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_fails_however_it_is_cut(name: str) -> None:
    for parts in every_cut(BAD[name]):
        reader, _ = read(parts)
        assert reader.failure is not None
        assert not reader.complete
        assert not reader.reusable
        reader.close()
        assert not reader.complete


def test_body_before_a_fault_is_not_lost() -> None:
    reader, body = read([CHUNKED + b"5\r\nhello\r\nzz\r\n"])
    assert body == b"hello"
    assert reader.failure is not None


def test_a_body_without_length_ends_with_the_connection() -> None:
    reader, body = read([HEAD + b"\r\nhel", b"lo"])
    assert (body, reader.complete, reader.reusable) == (b"hello", False, False)
    reader.close()
    assert reader.complete


def test_a_body_with_a_length_does_not_end_with_the_connection() -> None:
    reader, _ = read([HEAD + b"Content-Length: 9\r\n\r\nhello"])
    reader.close()
    assert not reader.complete


@pytest.mark.parametrize(
    "surplus",
    [
        b"H",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother",
        b"\0",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"\r\nHTTP/1.1 500 Oh\r\nX: y\r\n\r\nbody",
    ],
)
@pytest.mark.parametrize("first", [HEAD + b"Content-Length: 2\r\n\r\nok", CHUNKED + b"2\r\nok\r\n0\r\n\r\n"])
def test_surplus_bytes_change_nothing_but_reuse(first: bytes, surplus: bytes) -> None:
    reader, body = read([first + surplus])
    assert (body, reader.status, reader.complete, reader.failure) == (b"ok", 200, True, None)
    assert not reader.reusable


def test_a_second_answer_after_reset() -> None:
    reader, _ = read([HEAD + b"A: 1\r\nContent-Length: 2\r\n\r\nok"])
    reader.reset()
    assert not reader.received_any
    assert reader.feed(b"HTTP/1.1 500 Oh\r\nB: 2\r\nContent-Length: 3\r\n\r\noh!") == b"oh!"
    assert (reader.status, reader.headers) == (500, {b"b": b"2", b"content-length": b"3"})


def test_repeated_headers_are_joined() -> None:
    reader, _ = read([HEAD + b"A: 1\r\nContent-Length: 0\r\na: 2\r\n\r\n"])
    assert reader.headers[b"a"] == b"1, 2"


def test_the_number_of_headers_is_bounded() -> None:
    fits = b"".join(b"x-%d: y\r\n" % i for i in range(MAX_HEADERS - 1)) + b"Content-Length: 0\r\n"
    assert read([HEAD + fits + b"\r\n"])[0].failure is None
    assert read([HEAD + b"y: z\r\n" + fits + b"\r\n"])[0].failure is not None


@pytest.mark.parametrize(
    "endless",
    [
        [HEAD, *([b"a: " + b"b" * 1000 + b"\r\n"] * 100)],
        [HEAD + b"a: ", *([b"b" * 1000] * 100)],
        [b"HTTP/1.1 200 ", *([b"OK" * 500] * 100)],
        [b"HTTP/1.1 100 Continue\r\n\r\n"] * 4000,
    ],
)
def test_the_head_is_bounded(endless: list[bytes]) -> None:
    reader = ResponseReader()
    fed = 0
    for part in endless:
        reader.feed(part)
        fed += len(part)
        if reader.failure is not None:
            break
    assert reader.failure is not None
    assert fed <= MAX_HEAD + 2000


@pytest.mark.parametrize("endless", [b"x" * 1000, b"2;" + b"x" * 1000, b"0\r\nA: " + b"x" * 1000])
def test_framing_without_body_is_bounded(endless: bytes) -> None:
    reader, _ = read([CHUNKED, endless, *([b"x" * 1000] * 100)])
    assert reader.failure is not None


def test_trailers_are_counted_with_the_head() -> None:
    reader, _ = read([CHUNKED + b"0\r\n" + b"".join([b"t: " + b"x" * 1000 + b"\r\n"] * 70) + b"\r\n"])
    assert reader.failure is not None


def test_a_large_body_in_one_read_is_no_large_head() -> None:
    body = b"x" * (4 * MAX_HEAD)
    reader, got = read([HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body])
    assert got == body
    assert reader.complete


def test_the_reader_knows_where_a_chunk_begins() -> None:
    data = CHUNKED + b"3\r\nhel\r\n2;x=y\r\nl\n\r\n0\r\n\r\n"
    between = {len(CHUNKED) + 8, len(CHUNKED) + 19}
    for end in range(1, len(data) + 1):
        for begin in range(end):
            reader = ResponseReader()
            reader.feed(data[:begin])
            reader.feed(data[begin:end])
            assert reader.at_chunk_boundary(data[begin:end]) is (end in between), (begin, end)
