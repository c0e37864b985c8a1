"""Feeds text to a marker parser, cut in pieces or not, and joins the pieces that come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from moongate.kimi.markers.pieces import (
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
class ParsedCall:
    """One call."""

    original_id: str
    name: str
    arguments: str = ""
    truncated: bool | None = None  # None: still open


@dataclass
class ParsedChoice:
    """What a parser made of one choice."""

    content: str = ""
    reasoning: str = ""
    calls: list[ParsedCall] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)

    def take(self, pieces: Iterable[Piece]) -> ParsedChoice:
        for piece in pieces:
            match piece:
                case Text(channel, text):
                    assert text
                    setattr(self, channel, getattr(self, channel) + text)
                case CallOpened(original_id, name):
                    assert name
                    assert all(call.truncated is not None for call in self.calls), "two calls are open"
                    self.calls.append(ParsedCall(original_id, name))
                case CallArguments(text):
                    assert text
                    assert self.calls[-1].truncated is None
                    self.calls[-1].arguments += text
                case CallClosed(truncated):
                    assert self.calls[-1].truncated is None
                    self.calls[-1].truncated = truncated
                case WholeCalls(calls):
                    assert all(call.truncated is not None for call in self.calls), "another call is open"
                    self.calls += [ParsedCall(*call, truncated=False) for call in calls]
                    assert all(call.name and call.arguments for call in self.calls)
                case Dropped(text, why):
                    self.dropped.append((text, why))
                case _:
                    assert_never(piece)
        return self


def cut_in(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def read(parser: Parser, deltas: Iterable[tuple[Channel, str]]) -> ParsedChoice:
    parsed = ParsedChoice()
    for channel, text in deltas:
        parsed.take(parser.feed(channel, text))
    return parsed.take(parser.close())


def ways(deltas: list[tuple[Channel, str]]) -> Iterator[list[tuple[Channel, str]]]:
    """The deltas as they are, and cut in pieces of a few sizes."""
    yield deltas
    for size in CUTS:
        yield [(channel, piece) for channel, text in deltas for piece in cut_in(text, size)]
