"""Which field text comes from."""

from __future__ import annotations

from moongate.kimi.markers.seams import Seams


def test_text_of_one_field() -> None:
    seams = Seams("content")
    seams.change("reasoning", 0)
    assert not seams.any
    assert seams.at(0) == "reasoning"
    assert list(seams.parts(2, 5)) == [("reasoning", 2, 5)]


def test_text_of_several_fields() -> None:
    seams = Seams("reasoning")
    seams.change("content", 3)
    seams.change("reasoning", 5)
    assert seams.any
    assert [seams.at(pos) for pos in (0, 2, 3, 4, 5, 9)] == [
        "reasoning",
        "reasoning",
        "content",
        "content",
        "reasoning",
        "reasoning",
    ]
    assert list(seams.parts(0, 7)) == [("reasoning", 0, 3), ("content", 3, 5), ("reasoning", 5, 7)]
    assert list(seams.parts(1, 2)) == [("reasoning", 1, 2)]
    assert list(seams.parts(1, 3)) == [("reasoning", 1, 3)]
    assert list(seams.parts(4, 5)) == [("content", 4, 5)]
    assert list(seams.parts(6, 7)) == [("reasoning", 6, 7)]


def test_what_was_read_is_forgotten() -> None:
    seams = Seams("reasoning")
    seams.change("content", 3)
    seams.shift(1)
    assert list(seams.parts(0, 4)) == [("reasoning", 0, 2), ("content", 2, 4)]
    seams.shift(-2)
    assert list(seams.parts(0, 5)) == [("reasoning", 0, 4), ("content", 4, 5)]
    seams.shift(4)
    assert not seams.any
    seams.shift(4)
    assert seams.field == "content"
