"""Two fields, one answer: calls leave one by one."""

from __future__ import annotations

import pytest
from tests.kimi.marker_reading import Said, read

from moongate.kimi.lanes import Lanes
from moongate.kimi.pieces import CallArguments, CallClosed, CallOpened, Channel, Piece, Text


class ToyLane:
    """`(` opens a call, `)` closes it; in a call text is arguments."""

    def __init__(self, channel: Channel) -> None:
        self.calling = False
        self._channel: Channel = channel

    @property
    def idle(self) -> bool:
        return not self.calling

    def feed(self, text: str) -> list[Piece]:
        return [self._piece(char) for char in text]

    def close(self) -> list[Piece]:
        if not self.calling:
            return []
        self.calling = False
        return [CallClosed(cut=True)]

    def _piece(self, char: str) -> Piece:
        if char == "(":
            self.calling = True
            return CallOpened("", self._channel)
        if char == ")":
            self.calling = False
            return CallClosed()
        return CallArguments(char) if self.calling else Text(self._channel, char)


def lanes() -> Lanes:
    return Lanes(ToyLane("content"), ToyLane("reasoning"))


def test_each_field_is_read_on_its_own() -> None:
    heard = read(lanes(), [("reasoning", "a(1"), ("reasoning", "2)b"), ("content", "c(3)")])
    assert (heard.reasoning, heard.content) == ("ab", "c")
    assert heard.calls == [Said("", "reasoning", "12", False), Said("", "content", "3", False)]


def test_a_call_waits_for_the_end_of_the_other_fields_call() -> None:
    parser = lanes()
    parser.feed("reasoning", "(1")
    assert parser.feed("content", "x(3") == [Text("content", "x")], "text does not wait"
    assert parser.feed("reasoning", "2)") == [
        CallArguments("2"),
        CallClosed(),
        CallOpened("", "content"),
        CallArguments("3"),
    ]
    assert parser.feed("content", "4") == [CallArguments("4")], "now it is the one that is open"
    assert parser.feed("reasoning", "(") == []
    assert parser.feed("content", ")") == [CallClosed(), CallOpened("", "reasoning")]
    assert parser.close() == [CallClosed(cut=True)]


@pytest.mark.parametrize(("first", "second"), [("reasoning", "content"), ("content", "reasoning")])
def test_at_the_end_the_open_call_is_closed_first(first: Channel, second: Channel) -> None:
    heard = read(lanes(), [(first, "(1"), (second, "(2)(3")])
    assert [(call.name, call.arguments, call.cut) for call in heard.calls] == [
        (first, "1", True),
        (second, "2", False),
        (second, "3", True),
    ]


def test_a_waiting_call_that_has_ended_leaves_nothing_open() -> None:
    parser = lanes()
    parser.feed("content", "(1")
    parser.feed("reasoning", "(2)")
    assert parser.feed("content", ")")[-1] == CallClosed()
    assert parser.feed("reasoning", "(") == [CallOpened("", "reasoning")]


def test_idle_by_channel_and_for_both() -> None:
    parser = lanes()
    assert parser.idle
    parser.feed("content", "(")
    assert not parser.idle
    assert not parser.idle_for("content")
    assert parser.idle_for("reasoning")
