"""The end of a whole answer in a stream's framing, however it is written and cut."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.pipeline import non_stream as module
from moongate.wire.sse import SseDecoder

END_TOKENS = [
    b"data: [DONE]",
    b"data:",
    b"[DONE]",
    b" ",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n\r\n",
    b": x",
    b"event: e",
    b"data: x",
]


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(END_TOKENS), max_size=30), st.integers(1, 40))
def test_the_watch_finds_the_end_that_the_decoder_finds(tokens: list[bytes], size: int) -> None:
    data = b"".join(tokens)
    watch, decoder = module.EndWatch("text/event-stream"), SseDecoder()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    for piece in pieces:
        expected = any(frame.data is not None and frame.data.strip() == b"[DONE]" for frame in decoder.feed(piece))
        assert watch.feed(piece) == expected, pieces
        if expected:
            break
