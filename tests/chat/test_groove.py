"""Events that leave just as they came."""

from __future__ import annotations

import pytest

from moongate.chat.groove import Groove
from moongate.chat.mould import Mould

PREFIX, SUFFIX = b'data: {"choices":[{"delta":{"content":"', b'"}}]}\n\n'


def fits(text: bytes, gate: bytes = b"<") -> bool:
    groove = Groove(Mould(PREFIX, SUFFIX, {"choices": [{"delta": {"content": ""}}]}, "content", 0), gate)
    assert (groove.prefix, groove.suffix) == (PREFIX, SUFFIX)
    others = text.translate(None, groove.ordinary)
    return not others or groove.accepts(text, others)


@pytest.mark.parametrize("text", ["", "a b, c.", "a > b", r"line\nand \"word\" \u4e2d", "héllo 中文 🙂", "~\x7f"])
def test_the_inside_of_a_string_fits(text: str) -> None:
    assert fits(text.encode())


@pytest.mark.parametrize(
    "text",
    [b"a < b", b"a\nb", b'a"b', b"a\\", rb"\x", b"\x00", b"\xff", b"\xe4\xb8", rb"\u003c", rb"\ud83d", "中<".encode()],
)
def test_what_somebody_may_ask_about_does_not_fit(text: bytes) -> None:
    assert not fits(text)


def test_every_byte_of_the_gate_counts() -> None:
    assert fits(b"a < b", b"")
    assert not fits(b"a < b", b"[<")
    assert not fits(b"[a", b"[<")
    assert fits(rb"a\nb", b"[<")


def test_the_text_of_an_event() -> None:
    groove = Groove(Mould(PREFIX, SUFFIX, {"choices": [{"delta": {"content": ""}}]}, "content", 0, 200), b"<")
    event = PREFIX + b"%b" + SUFFIX
    assert groove.text(event % b"") == b""
    assert groove.text(event % b"a b") == b"a b"
    assert groove.text(event % rb"a\nb") == rb"a\nb"
    for other in (b"<", b'"', b"\n", b"a" * 200):
        assert groove.text(event % other) is None
    for data in (event % b"a" + event % b"b", PREFIX, SUFFIX, PREFIX + SUFFIX[1:], b"", (event % b"a")[1:]):
        assert groove.text(data) is None
