"""Events that differ in their text alone are known by the bytes around it."""

from __future__ import annotations

import pytest

from moongate.wire.fast import TextMatcher

PREFIX, SUFFIX = b'data: {"choices":[{"delta":{"content":"', b'"}}]}\n\n'
EVENT = PREFIX + b"%b" + SUFFIX


def text_of(data: bytes, stops: bytes = b"<", limit: int = 1000) -> bytes | None:
    return TextMatcher(PREFIX, SUFFIX, stops, limit).text(data, PREFIX)


@pytest.mark.parametrize("text", ["", "a b, c.", "a > b", r"line\nand \"word\" \u4e2d", "héllo 中文 🙂", "~\x7f"])
def test_the_inside_of_a_json_string_matches(text: str) -> None:
    assert text_of(EVENT % text.encode()) == text.encode()


@pytest.mark.parametrize(
    "text",
    [b"a < b", b"a\nb", b'a"b', b"a\\", rb"\x", b"\x00", b"\xff", b"\xe4\xb8", rb"\u003c", rb"\ud83d", "中<".encode()],
)
def test_text_that_has_to_be_parsed_does_not_match(text: bytes) -> None:
    assert text_of(EVENT % text) is None


def test_every_stop_byte_counts() -> None:
    assert text_of(EVENT % b"a < b", stops=b"") == b"a < b"
    assert text_of(EVENT % b"a < b", stops=b"[<") is None
    assert text_of(EVENT % b"[a", stops=b"[<") is None
    assert text_of(EVENT % rb"a\nb", stops=b"[<") == rb"a\nb"


@pytest.mark.parametrize(
    "data", [EVENT % b"a" + EVENT % b"b", PREFIX, SUFFIX, PREFIX + SUFFIX[1:], b"", (EVENT % b"a")[1:]]
)
def test_anything_but_one_event_does_not_match(data: bytes) -> None:
    assert text_of(data) is None


def test_without_stops_the_text_may_be_anything_on_one_line() -> None:
    matcher = TextMatcher(PREFIX, SUFFIX, None, 1000)
    for text in (b"", b"a < b", b'a"b', b"a\\", b"\xff", rb"\u003c"):
        assert matcher.text(EVENT % text, PREFIX) == text
    assert matcher.text(EVENT % b"a\nb", PREFIX) is None
    assert matcher.text(EVENT % b"a" + EVENT % b"b", PREFIX) is None


def test_an_event_has_a_limit() -> None:
    data = EVENT % b"abc"
    assert text_of(data, limit=len(data)) == b"abc"
    assert text_of(data, limit=len(data) - 1) is None


def test_an_event_in_an_http_chunk() -> None:
    data = EVENT % b"abc"
    line = b"%x\r\n" % len(data)
    matcher = TextMatcher(PREFIX, SUFFIX, b"<", len(data)).in_http_chunk()
    assert matcher.text(line + data + b"\r\n", line + PREFIX) == b"abc"
    assert matcher.text(line + EVENT % b"a<c" + b"\r\n", line + PREFIX) is None
    assert matcher.text(line + EVENT % b"abcd" + b"\r\n", line + PREFIX) is None, "too large"
    assert matcher.text(line + data, line + PREFIX) is None
