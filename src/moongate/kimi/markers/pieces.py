"""What a marker parser yields. Both grammars (K2, K3) yield these pieces, for streamed and whole answers alike.

Pieces are never changed. They are not declared frozen because that makes their construction four times slower, and
every chunk of a stream constructs one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Channel = Literal["content", "reasoning"]  # the text fields of a message
WholeCall = tuple[str, str, str]  # original id, name, arguments


@dataclass(slots=True)
class Text:
    """Visible text of a channel. Never empty."""

    channel: Channel
    text: str


@dataclass(slots=True)
class CallOpened:
    """A call begins. `original_id` is the id as the model wrote it (the header's text), "" if the grammar has none."""

    original_id: str
    name: str


@dataclass(slots=True)
class CallArguments:
    """The next part of the open call's arguments. Never empty."""

    text: str


@dataclass(slots=True)
class CallClosed:
    """The open call ends. `truncated`: the text ended inside it and the arguments are not valid JSON."""

    truncated: bool = False


@dataclass(slots=True)
class WholeCalls:
    """Complete calls, in order."""

    calls: list[WholeCall]


@dataclass(slots=True)
class Dropped:
    """Markup that was removed without a call; `why` goes into a note (`markers_parsed`)."""

    text: str
    why: str


Piece = Text | CallOpened | CallArguments | CallClosed | WholeCalls | Dropped


class Parser(Protocol):
    """The parser of one choice of one answer: text of either channel in, pieces out."""

    def feed(self, channel: Channel, text: str) -> list[Piece]: ...

    def release(self) -> list[Piece]:
        """A native call comes: text that was held back leaves before it, since no marker goes on behind one."""
        ...

    def close(self) -> list[Piece]: ...

    def passed(self, channel: Channel, last: str) -> None:
        """Text that ends with this character left without being fed."""
        ...

    def idle_for(self, channel: Channel) -> bool:
        """True if ordinary text, fed to this channel now, would come out unchanged and at once.

        Ordinary text has none of the characters with which the family's markers begin, and no backtick
        (`AnswerContext.stop_characters`). It need not be fed; before the next `feed`, `passed` is called for the last
        of it.
        """
        ...
