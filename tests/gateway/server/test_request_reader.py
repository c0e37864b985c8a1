"""The request reader alone: good requests however they are cut, smuggling probes, limits."""

from __future__ import annotations

import pytest
from tests.gateway.probes import GET, POST, PROBES
from tests.support.cuts import every_cut

from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.head_faults import fault_of
from moongate.gateway.server.known_heads import MAX_KNOWN, MAX_KNOWN_SIZE, KnownHeads
from moongate.gateway.server.request_reader import RequestReader

LIMITS = ConnectionLimits(max_head=4096, max_headers=8, max_body=100)


def read(
    parts: list[bytes], limits: ConnectionLimits = LIMITS, known: KnownHeads | None = None
) -> tuple[RequestReader, bytes]:
    reader = RequestReader(limits, {} if known is None else known)
    body = b""
    for part in parts:
        body += reader.feed(part)
        if reader.failure is not None:
            break
    return reader, body


GOOD = {
    "get": (GET + b"\r\n", "GET", b"", True),
    "empty line before": (b"\r\n\r\n" + GET + b"\r\n", "GET", b"", True),
    "length": (POST + b"Content-Length: 5\r\n\r\nhello", "POST", b"hello", True),
    "chunks": (
        POST + b"Transfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nA: b\r\n\r\n",
        "POST",
        b"hello",
        True,
    ),
    "close": (POST + b"Connection: close\r\nContent-Length: 2\r\n\r\nok", "POST", b"ok", False),
    "1.0": (b"POST /x HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", "POST", b"ok", False),
    "upgrade": (GET + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n", "GET", b"", False),
    "upgrade with body": (
        POST + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello",
        "POST",
        b"hello",
        False,
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_request_is_read_however_it_is_cut(name: str) -> None:
    data, method, expected, keep_alive = GOOD[name]
    for parts in every_cut(data):
        reader, body = read(parts)
        assert (reader.failure, reader.complete, reader.surplus) == (None, True, 0)
        assert reader.head is not None
        assert (reader.head.method, reader.head.raw_path, body, reader.head.keep_alive) == (
            method,
            b"/x",
            expected,
            keep_alive,
        )
        assert all(name == name.lower() for name, _ in reader.headers)
        assert (b"a", b"b") not in reader.headers


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_is_refused_however_it_is_cut(name: str) -> None:
    for parts in every_cut(PROBES[name]):
        reader, _ = read(parts)
        assert reader.failure is not None
        assert reader.failure[0] == 400


def test_a_second_request() -> None:
    reader, _ = read([POST + b"Content-Length: 2\r\n\r\nok"])
    reader.reset()
    assert not reader.begun
    assert reader.feed(POST.replace(b"/x", b"/y") + b"Content-Length: 3\r\n\r\nyes") == b"yes"
    assert reader.head is not None
    assert (reader.head.path, reader.headers) == ("/y", [(b"host", b"a"), (b"content-length", b"3")])


@pytest.mark.parametrize("cut", [True, False])
def test_a_request_too_early_is_counted_and_not_read(cut: bool) -> None:
    first, second = POST + b"Content-Length: 2\r\n\r\nok", GET.replace(b"/x", b"/y") + b"\r\n"
    reader, body = read([first, second] if cut else [first + second])
    assert reader.head is not None
    assert (reader.head.path, body, reader.failure) == ("/x", b"ok", None)
    assert reader.surplus > 0


def test_what_follows_an_upgrade_is_surplus() -> None:
    reader, body = read([POST + b"Connection: upgrade\r\nUpgrade: x\r\nContent-Length: 2\r\n\r\noksurplus"])
    assert (body, reader.complete, reader.surplus) == (b"ok", True, 7)


def test_the_body_is_bounded() -> None:
    reader, _ = read([POST + b"Content-Length: 101\r\n\r\n" + b"x" * 101])
    assert reader.failure == (413, "The body of the request is too large")
    assert read([POST + b"Content-Length: 100\r\n\r\n" + b"x" * 100])[0].failure is None


@pytest.mark.parametrize(
    "parts",
    [
        [b"GET /" + b"x" * 1000, *[b"x" * 1000] * 5],
        [GET + b"a: ", *[b"x" * 1000] * 5],
        [GET, *[b"a: " + b"x" * 1000 + b"\r\n"] * 5],
        [GET, *[b"a: b\r\n"] * 10],
        [GET + b"a: " + b"x" * 5000 + b"\r\n\r\n"],
        [POST + b"Transfer-Encoding: chunked\r\n\r\n1;", *[b"x" * 1000] * 5],
        [POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\na: ", *[b"x" * 1000] * 5],
        [POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", *[b"a: " + b"x" * 1000 + b"\r\n"] * 5],
    ],
)
def test_heads_and_framing_are_bounded(parts: list[bytes]) -> None:
    reader, _ = read(parts)
    assert reader.failure is not None
    assert reader.failure[0] == 431


def test_a_failed_reader_keeps_its_first_failure() -> None:
    reader, _ = read([b"GET http://b/x HTTP/1.1\r\nHost: a\r\n\r\n"])
    first = reader.failure
    reader.feed(b"\0")
    assert first is not None
    assert reader.failure == first


def test_a_failure_after_too_many_headers_stays() -> None:
    reader, _ = read([GET + b"a: b\r\n" * 20 + b"\r\n"])
    assert reader.failure is not None
    assert reader.head is None
    reader.feed(b"\r\n")
    assert not reader.complete


@pytest.mark.parametrize("more", [(b"content-length", b"5"), (b"transfer-encoding", b"chunked")])
def test_framing_that_is_given_twice_is_refused_even_if_the_parser_accepts_it(more: tuple[bytes, bytes]) -> None:
    headers = [(b"host", b"a"), (b"content-length", b"5"), more]
    assert fault_of(b"POST /x HTTP/1.1\r\n", b"POST", b"/x", headers, is_http_1_1=True)
    assert not fault_of(b"POST /x HTTP/1.1\r\n", b"POST", b"/x", headers[:2], is_http_1_1=True)


def as_tuple(reader: RequestReader, body: bytes) -> object:
    """All that a request is, to its reader."""
    assert reader.head is not None
    head = reader.head
    said = (head.method, head.path, head.raw_path, head.query, head.is_http_1_1, head.keep_alive, head.expects_continue)
    return said, reader.headers, body, reader.complete, reader.failure


@pytest.mark.parametrize("name", GOOD)
def test_a_known_head_reads_the_same(name: str) -> None:
    known: KnownHeads = {}
    first = read([GOOD[name][0]], known=known)
    for parts in every_cut(GOOD[name][0]):
        assert as_tuple(*read(parts, known=known)) == as_tuple(*first)


def asks(length: bytes, body: bytes = b"", more: bytes = b"") -> bytes:
    return b"POST /a%20b?c HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + b"\r\nX: Y\r\n" + more + b"\r\n" + body


def test_a_known_head_with_another_length() -> None:
    known: KnownHeads = {}
    for length, body in ((b"5", b"hello"), (b"2", b"ok"), (b"0", b""), (b"002", b"ok"), (b"100", b"x" * 100)):
        for parts in every_cut(asks(length, body)):
            reader, got = read(parts, known=known)
            assert as_tuple(reader, got) == as_tuple(*read(parts))
            assert reader.headers == [(b"host", b"a"), (b"x", b"Y"), (b"content-length", length)]
            assert got == body
    assert len(known) == 1


@pytest.mark.parametrize(
    "data",
    [
        asks(b"5, 5", b"hello"),
        asks(b"-5", b"hello"),
        asks(b"5a", b"hello"),
        asks(b"5.0", b"hello"),
        asks(b"5", b"hello", b"Content-Length: 5\r\n"),
        asks(b"5", b"hello", b"Transfer-Encoding: chunked\r\n"),
        asks(b"\0", b"hello"),
        asks(b"99999999999999999999", b"hello"),
        asks(b"5", b"hello").replace(b"/a", b"/a b"),
    ],
)
def test_a_known_head_lets_no_other_in(data: bytes) -> None:
    known: KnownHeads = {}
    read([asks(b"5", b"hello")], known=known)
    for parts in every_cut(data):
        reader, _ = read(parts, known=known)
        assert reader.failure is not None
        assert reader.failure[0] == 400
    assert len(known) == 1


def test_a_known_head_with_too_large_a_body() -> None:
    known: KnownHeads = {}
    read([asks(b"5", b"hello")], known=known)
    assert read([asks(b"101", b"x" * 101)], known=known)[0].failure == (413, "The body of the request is too large")


def test_what_follows_a_known_request_is_surplus() -> None:
    known: KnownHeads = {}
    read([asks(b"5", b"hello")], known=known)
    assert read([asks(b"5", b"hello\r\n")], known=known)[0].surplus == 0
    assert read([asks(b"5", b"helloGET")], known=known)[0].surplus > 0
    assert read([asks(b"5", b"hello"), b"GET"], known=known)[0].surplus == 3


def test_known_heads_are_bounded() -> None:
    known: KnownHeads = {}
    for number in range(MAX_KNOWN + 10):
        read([GET + b"X: %d\r\n\r\n" % number], known=known)
        assert 0 < len(known) <= MAX_KNOWN
    known.clear()
    read([GET + b"X: " + b"y" * MAX_KNOWN_SIZE + b"\r\n\r\n"], ConnectionLimits(), known)
    assert not known


def test_the_length_of_the_url_is_limited() -> None:
    limits = ConnectionLimits(max_url=100)
    for size, failure in ((100, None), (101, 414), (60_000, 414)):
        url = b"/" + b"x" * (size - 1)
        for step in (7, 1 << 20):
            data = b"GET " + url + b" HTTP/1.1\r\nHost: x\r\n\r\n"
            reader, _ = read([data[at : at + step] for at in range(0, len(data), step)], limits)
            assert (reader.failure and reader.failure[0]) == failure


@pytest.mark.parametrize("separate", [True, False])
def test_chunk_extensions_are_limited_in_all(separate: bool) -> None:
    extension, byte = b"1;" + b"e" * 3000, b"\r\nx\r\n"
    chunks = [extension, byte] * 90 if separate else [extension + byte] * 90
    reader, body = read([POST + b"Transfer-Encoding: chunked\r\n\r\n", *chunks])
    assert reader.failure == (400, "The chunk extensions of the request are too long")
    assert len(body) < 10


@pytest.mark.parametrize("chunks", [[b"1;" + b"e" * 3000 + b"\r\nx\r\n"] * 63, [b"0;" + b"e" * 200_000]])
def test_chunk_extensions_are_limited_in_a_single_read(chunks: list[bytes]) -> None:
    last = b"\r\n\r\n" if chunks[-1].startswith(b"0") else b"0\r\n\r\n"
    reader, _ = read([b"".join([POST, b"Transfer-Encoding: chunked\r\n\r\n", *chunks, last])], ConnectionLimits())
    assert reader.failure == (400, "The chunk extensions of the request are too long")


def test_what_follows_a_request_with_a_length_is_no_extension() -> None:
    following = POST + b"Content-Length: 200000\r\n\r\n" + b"x" * 200_000
    reader, body = read([POST + b"Content-Length: 2\r\n\r\nok" + following], ConnectionLimits())
    assert (reader.failure, body, reader.complete, reader.surplus > 0) == (None, b"ok", True, True)


def test_chunks_of_one_byte_are_no_extensions() -> None:
    limits = ConnectionLimits(max_head=1024, max_body=100_000)
    chunks = [b"000001\r\nx\r\n" * 100] * 500
    reader, body = read([POST + b"Transfer-Encoding: chunked\r\n\r\n", *chunks, b"0\r\n\r\n"], limits)
    assert (reader.failure, len(body), reader.complete) == (None, 50_000, True)
