"""One HTTP chunk with one text event in it is forwarded as it is; everything else is left alone."""

from __future__ import annotations

import pytest

from moongate.net.forward import LONGEST_OPENING, MOST_OPENINGS, MOST_REMEMBERED, ChunkForwarder, first_line
from moongate.wire.fast import TextMatcher

PREFIX, SUFFIX = b'data: {"t":"', b'"}\n\n'


def forwarder(out: list[bytes], prefix: bytes = PREFIX, limit: int = 1000) -> ChunkForwarder:
    return ChunkForwarder(TextMatcher(prefix, SUFFIX, b"<", limit), out.append)


def taken(data: bytes, limit: int = 1000) -> bytes:
    out: list[bytes] = []
    assert forwarder(out, limit=limit).take(data) is bool(out)
    return b"".join(out)


def framed(body: bytes, size: bytes = b"%x") -> bytes:
    return size % len(body) + b"\r\n" + body + b"\r\n"


def event(text: bytes) -> bytes:
    return PREFIX + text + SUFFIX


@pytest.mark.parametrize("text", [b"", b"a", b"abcabc" * 40, rb"a\n"])
def test_a_chunk_that_fits_is_forwarded_as_it_came(text: bytes) -> None:
    for data in (framed(event(text)), framed(event(text), b"%X")):
        assert taken(data) == data


@pytest.mark.parametrize(
    "data",
    [
        framed(event(b"<")),
        framed(event(rb"\u003c")),
        framed(event(b"a")) * 2,
        framed(event(b"a") * 2),
        framed(event(b"a"), b"0%x"),
        framed(event(b"a"), b"+%x"),
        framed(event(b"a"), b"0x%x"),
        framed(event(b"a"), b"%x;more=1"),
        framed(event(b"a"), b"%x "),
        framed(event(b"a")).replace(b"\r\n", b"\n", 1),
        framed(event(b"a"))[:-2],
        framed(event(b"a"))[1:],
        framed(event(b"a"))[:-1] + b"x",
        framed(PREFIX[:-1] + SUFFIX),
        event(b"a"),
        b"",
        b"\r\n",
        b"0\r\n\r\n",
    ],
)
def test_anything_else_is_not(data: bytes) -> None:
    assert taken(data) == b""


def test_a_prefix_and_a_suffix_that_overlap_are_no_event() -> None:
    out: list[bytes] = []
    short = ChunkForwarder(TextMatcher(b'{"', b'"}', b"", 99), out.append)
    assert not short.take(framed(b'{"}'))
    assert short.take(framed(b'{""}'))


def test_what_is_larger_than_the_limit_is_not() -> None:
    data = framed(event(b"a" * 100))
    assert taken(data, limit=len(data)) == data
    assert taken(data, limit=100) == b""


@pytest.mark.parametrize("size", [1, 9, 15, 16, 255, 256, 4095, MOST_REMEMBERED, 65536, 1 << 20])
def test_a_chunk_of_any_size_begins_with_its_size(size: int) -> None:
    for _ in range(2):
        assert first_line(len(framed(b"a" * size))) == b"%x\r\n" % size
    body = PREFIX + b"a" * size + SUFFIX
    assert taken(framed(body), 1 << 21) == framed(body)


def test_no_chunk_has_some_sizes() -> None:
    # 15 bytes need 1 + 2 + 15 + 2, 16 need 2 + 2 + 16 + 2: nothing is 21 bytes long.
    assert [size for size in range(40) if not first_line(size)] == [0, 1, 2, 3, 4, 5, 21]
    assert taken(b"x" * 21) == b""
    out: list[bytes] = []
    short = ChunkForwarder(TextMatcher(b"abcdefg", b"hijkl", b"", 99), out.append)
    assert not short.take(b"abcdefg" + b"x" * 7 + b"hijkl\r\n")
    assert out == []


def test_what_it_remembers_is_bounded() -> None:
    for prefix, most in ((PREFIX, MOST_OPENINGS), (b'data: {"t":"' + b"x" * LONGEST_OPENING, 0)):
        out: list[bytes] = []
        found = forwarder(out, prefix, 1 << 20)
        for size in range(2 * MOST_OPENINGS):
            data = framed(prefix + b"a" * size + SUFFIX, b"%X" if size % 2 else b"%x")
            assert found.take(data)
            assert out.pop() == data
        assert len(found._openings) <= most


def test_text_alone_is_forwarded_where_the_front_writes_events_of_its_own() -> None:
    out: list[bytes] = []
    bare = ChunkForwarder(TextMatcher(PREFIX, SUFFIX, b"<", 1000), out.append, bare=True)
    assert bare.take(framed(event(b"abc")))
    assert bare.taken
    assert out == [b"abc"]
