"""Text that begins with thinking between tags, split into thinking and the rest while it streams."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

MAX_LEADING_BLANKS: Final = 64  # before the opening tag; behind more of them a tag is text


class Parted(NamedTuple):
    """What a piece of text turned out to be."""

    reasoning: str = ""
    content: str = ""


class _TagState(Enum):
    BEFORE = "the opening tag may still come"
    INSIDE = "thinking"
    BEHIND = "text"


class TaggedText:
    """One text. Only a tag at its very beginning opens the thinking; all later text is text.

    >>> text = TaggedText("think")
    >>> [text.feed(piece) for piece in ("<thi", "nk>Hm", "m.</think>", "Hi")]
    [Parted(reasoning='', content=''), Parted(reasoning='Hm', content=''), Parted(reasoning='m.', content=''), \
Parted(reasoning='', content='Hi')]
    """

    __slots__ = ("_close", "_held", "_open", "_place")

    def __init__(self, tag: str) -> None:
        self._open = f"<{tag}>"
        self._close = f"</{tag}>"
        self._place = _TagState.BEFORE
        self._held = ""  # what may still become a tag

    def feed(self, piece: str) -> Parted:
        if self._place is _TagState.BEHIND:
            return Parted(content=piece)
        text, self._held = self._held + piece, ""
        return self._before(text) if self._place is _TagState.BEFORE else self._inside(text)

    def close(self) -> Parted:
        """The end of the text: what was held back is no tag."""
        held, self._held = self._held, ""
        return Parted(reasoning=held) if self._place is _TagState.INSIDE else Parted(content=held)

    def _before(self, text: str) -> Parted:
        start = text.lstrip()
        if len(text) - len(start) <= MAX_LEADING_BLANKS:
            if start.startswith(self._open):
                self._place = _TagState.INSIDE
                return self._inside(start[len(self._open) :])
            if self._open.startswith(start):
                self._held = text
                return Parted()
        self._place = _TagState.BEHIND
        return Parted(content=text)

    def _inside(self, text: str) -> Parted:
        thought, closing, rest = text.partition(self._close)
        if closing:
            self._place = _TagState.BEHIND
            return Parted(thought, rest)
        at = text.rfind("<", max(0, len(text) - len(self._close) + 1))  # a tag has its only "<" in front
        if at < 0 or not self._close.startswith(text[at:]):
            return Parted(text)
        self._held = text[at:]
        return Parted(text[:at])
