from __future__ import annotations

import pytest

from moongate.chat.items import Chunk, Done, LazyChunk, Stretch


class Counting(LazyChunk):
    made = 0

    def __init__(self) -> None:
        self.raw = None
        self._payload = None

    def make_payload(self) -> dict[str, int]:
        self.made += 1
        return {"made": self.made}


def test_a_chunk_leaves_with_its_own_bytes_until_it_is_changed() -> None:
    assert Chunk({"a": 1}, b"data: {'a' : 1}\r\n\r\n").encode() == b"data: {'a' : 1}\r\n\r\n"
    assert Chunk.of({"a": 1}).encode() == b'data: {"a":1}\n\n'
    assert repr(Chunk({"a": 1}, b"x")) == "Chunk({'a': 1}, raw)"
    assert repr(Chunk.of({})) == "Chunk({})"


@pytest.mark.interpreted("derives a class from ours")
def test_a_lazy_chunk_makes_its_payload_once() -> None:
    chunk = Counting()
    assert chunk.payload == {"made": 1}
    assert chunk.payload == {"made": 1}
    with pytest.raises(NotImplementedError):
        LazyChunk({}).make_payload()


def test_done_has_the_bytes_that_came_or_the_usual_ones() -> None:
    assert Done() == Done(b"data: [DONE]\n\n")
    assert Done(b"data:[DONE]\n\n") != Done()


def test_a_stretch_need_not_know_its_chunks() -> None:
    stretch = Stretch(b"raw", b"a", "content", 1)
    assert (stretch.raw, stretch.text, stretch.field, stretch.choice) == (b"raw", b"a", "content", 1)
    assert (stretch.texts, stretch.sample) == ((), {})
