"""Reads text with a marker parser, cut in pieces or not, and puts together what came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from moongate.kimi.pieces import (
    CallArguments,
    CallClosed,
    CallOpened,
    Channel,
    Dropped,
    Parser,
    Piece,
    Text,
    WholeCalls,
)

CUTS = (1, 2, 3, 7)


@dataclass
class Said:
    """One call."""

    given: str
    name: str
    arguments: str = ""
    cut: bool | None = None  # None: still open


@dataclass
class Heard:
    """All that came out of one choice."""

    content: str = ""
    reasoning: str = ""
    calls: list[Said] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)

    def take(self, pieces: Iterable[Piece]) -> Heard:
        for piece in pieces:
            match piece:
                case Text(channel, text):
                    assert text
                    setattr(self, channel, getattr(self, channel) + text)
                case CallOpened(given, name):
                    assert name
                    assert all(call.cut is not None for call in self.calls), "two calls are open"
                    self.calls.append(Said(given, name))
                case CallArguments(text):
                    assert text
                    assert self.calls[-1].cut is None
                    self.calls[-1].arguments += text
                case CallClosed(cut):
                    assert self.calls[-1].cut is None
                    self.calls[-1].cut = cut
                case WholeCalls(calls):
                    assert all(call.cut is not None for call in self.calls), "another call is open"
                    self.calls += [Said(given, name, arguments, False) for given, name, arguments in calls]
                    assert all(call.name and call.arguments for call in self.calls)
                case Dropped(text, why):
                    self.dropped.append((text, why))
                case _:
                    assert_never(piece)
        return self


def cut_in(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def read(parser: Parser, deltas: Iterable[tuple[Channel, str]]) -> Heard:
    heard = Heard()
    for channel, text in deltas:
        heard.take(parser.feed(channel, text))
    return heard.take(parser.close())


def ways(deltas: list[tuple[Channel, str]]) -> Iterator[list[tuple[Channel, str]]]:
    """The deltas as they are, and cut in pieces of a few sizes."""
    yield deltas
    for size in CUTS:
        yield [(channel, piece) for channel, text in deltas for piece in cut_in(text, size)]
