from __future__ import annotations

import pytest

from moongate.wire.frames import Frame, counts_at_the_end, without_bom


def test_frames_are_equal_if_they_say_the_same() -> None:
    assert Frame(b"raw", b"data") == Frame(b"raw", b"data", "")
    assert Frame(b"raw", b"data") != Frame(b"raw", None)


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
