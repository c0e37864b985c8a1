from __future__ import annotations

from moongate.chat.items import Chunk, Done


def test_a_chunk_leaves_with_its_own_bytes_until_it_is_changed() -> None:
    assert Chunk({"a": 1}, b"data: {'a' : 1}\r\n\r\n").encode() == b"data: {'a' : 1}\r\n\r\n"
    assert Chunk.of({"a": 1}).encode() == b'data: {"a":1}\n\n'
    assert repr(Chunk({"a": 1}, b"x")) == "Chunk({'a': 1}, raw)"
    assert repr(Chunk.of({})) == "Chunk({})"


def test_done_has_the_bytes_that_came_or_the_usual_ones() -> None:
    assert Done() == Done(b"data: [DONE]\n\n")
    assert Done(b"data:[DONE]\n\n") != Done()
