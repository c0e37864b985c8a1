from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.framing import content_type, framed

CHUNKS: list[dict[str, Any]] = [{"a": 1}, {"b": "\n"}]


@pytest.mark.parametrize(
    ("framing", "pieces"),
    [
        ("sse", [b'data: {"a":1}\n\n', b'data: {"b":"\\n"}\n\n', b"data: [DONE]\n\n"]),
        ("crlf", [b'data: {"a":1}\r\n\r\n', b'data: {"b":"\\n"}\r\n\r\n', b"data: [DONE]\r\n\r\n"]),
        ("nospace", [b'data:{"a":1}\n\n', b'data:{"b":"\\n"}\n\n', b"data:[DONE]\n\n"]),
        ("one", [b'data: {"a":1}\n\ndata: {"b":"\\n"}\n\ndata: [DONE]\n\n']),
        ("ndjson", [b'{"a":1}\n', b'{"b":"\\n"}\n']),
    ],
)
def test_framings(framing: str, pieces: list[bytes]) -> None:
    assert framed(CHUNKS, framing, done=True) == pieces


def test_comments_and_single_bytes_hold_the_same_events() -> None:
    plain = b"".join(framed(CHUNKS, "sse", done=False))
    commented = framed(CHUNKS, "comments", done=False)
    assert all(piece.startswith(b": ") for piece in commented)
    assert b"".join(commented).replace(b": still here\n\n", b"") == plain
    single = framed(CHUNKS, "bytes", done=False)
    assert {len(piece) for piece in single} == {1}
    assert b"".join(single) == plain


def test_content_types() -> None:
    assert content_type("ndjson") == "application/x-ndjson"
    assert content_type("crlf").startswith("text/event-stream")
