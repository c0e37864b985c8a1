"""NDJSON."""

from __future__ import annotations

import pytest
from tests.support.cuts import every_cut

from moongate.wire.frames import Frame
from moongate.wire.ndjson import NdjsonDecoder


def frames_of(parts: list[bytes], limit: int = 1000) -> list[Frame]:
    decoder = NdjsonDecoder(limit)
    return [frame for part in parts for frame in decoder.feed(part)] + decoder.close()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\r\n\r\n \n{"b" : 2}\r\n', [b'{"a":1}', b'{"b" : 2}']),
        (b'\xef\xbb\xbf{"a":1}\n', [b'{"a":1}']),
        (b'{"a":1}\n{"b":2}', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\n{"b":', [b'{"a":1}']),
        (b'{"a":1}\n[DONE]', [b'{"a":1}', b"[DONE]"]),
        ('{"a":"\u2028\u0085"}\n'.encode(), ['{"a":"\u2028\u0085"}'.encode()]),
        (b'{"a":\r1}\n', [b'{"a": 1}']),
        (b"\xef\xbb", []),
        (b"", []),
    ],
)
def test_lines_become_events(data: bytes, expected: list[bytes]) -> None:
    for cuts in every_cut(data):
        frames = frames_of(cuts)
        assert [frame.data for frame in frames] == expected
        assert [frame.raw for frame in frames] == [b"data: " + line + b"\n\n" for line in expected]


def test_a_line_may_be_as_large_as_the_limit() -> None:
    for size, overflow in ((40, False), (41, True)):
        data = b"{}\n" + b"x" * size + b"\n"
        for cuts in every_cut(data):
            decoder = NdjsonDecoder(limit=40)
            frames = [frame for part in cuts for frame in decoder.feed(part)]
            assert decoder.overflow is overflow
            assert len(frames) == (1 if overflow else 2)
            if overflow:
                assert decoder.feed(b"{}\n") == []
                assert decoder.close() == []
