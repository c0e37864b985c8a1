"""Two fields of text, one answer: content and reasoning are read each on its own, their calls leave one by one."""

from __future__ import annotations

from typing import Protocol

from moongate.kimi.pieces import Channel, Dropped, Piece, Text


class Lane(Protocol):
    """Reads one field."""

    calling: bool  # a call is open

    def feed(self, text: str) -> list[Piece]: ...

    def close(self) -> list[Piece]: ...

    @property
    def idle(self) -> bool:
        """Would text without `<` leave at once, as it is, in its own channel?"""
        ...


class Lanes:
    """Implements `pieces.Parser`. A call that begins while the other field's call is open waits for its end."""

    __slots__ = ("_content", "_open", "_reasoning", "_waiting")

    def __init__(self, content: Lane, reasoning: Lane) -> None:
        self._content = content
        self._reasoning = reasoning
        self._open: Lane | None = None  # whose call is open
        self._waiting: list[Piece] = []  # of the other one

    def feed(self, channel: Channel, text: str) -> list[Piece]:
        lane = self._content if channel == "content" else self._reasoning
        pieces = lane.feed(text)
        if self._open is None and not lane.calling:
            return pieces
        return self._sorted(lane, pieces)

    def close(self) -> list[Piece]:
        first, second = self._reasoning, self._content
        if self._open is second:
            first, second = second, first
        return [*self._sorted(first, first.close()), *self._sorted(second, second.close())]

    @property
    def idle(self) -> bool:
        return self.idle_for("content") and self.idle_for("reasoning")

    def idle_for(self, channel: Channel) -> bool:
        return (self._content if channel == "content" else self._reasoning).idle

    def _sorted(self, lane: Lane, pieces: list[Piece]) -> list[Piece]:
        if self._open is None or self._open is lane:
            self._open = lane if lane.calling else None
            if self._open is None and self._waiting:
                pieces += self._waiting
                self._waiting = []
                other = self._content if lane is self._reasoning else self._reasoning
                self._open = other if other.calling else None
            return pieces
        now: list[Piece] = []
        for piece in pieces:
            (now if isinstance(piece, Text | Dropped) else self._waiting).append(piece)
        return now
