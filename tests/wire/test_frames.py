from __future__ import annotations

import pytest

from moongate.wire.frames import Frame, counts_at_the_end, odd_bytes, without_bom


@pytest.mark.parametrize(
    ("data", "counts"),
    [(b"{}", True), (b"[DONE]", True), (b" [DONE] ", True), (b"[]", False), (b"{", False), (b"", False), (b"1", False)],
)
def test_only_an_object_and_done_show_that_they_are_whole(data: bytes, counts: bool) -> None:
    assert counts_at_the_end(data) is counts


@pytest.mark.parametrize(
    ("head", "left"),
    [(b"", None), (b"\xef", None), (b"\xef\xbb", None), (b"\xef\xbb\xbf", b""), (b"\xef\xbb\xbfa", b"a"), (b"a", b"a")],
)
def test_the_byte_order_mark(head: bytes, left: bytes | None) -> None:
    assert without_bom(head) == left


def test_a_frame_is_what_it_holds() -> None:
    assert Frame(b"data: a\n\n", b"a") == Frame(b"data: a\n\n", b"a", "")
    assert Frame(b"data: a\n\n", b"a") != Frame(b"data: a\n\n", b"a", "error")


def test_odd_bytes_are_all_but_the_ordinary_ones() -> None:
    odd = odd_bytes(b"ab")
    assert b"abc\xff".translate(odd) == b"\0\0\1\1"
    assert 1 not in b"ba".translate(odd)
