"""What a marker parser says it read. Both grammars (K2, K3) speak these pieces, streamed and whole.

Nobody changes a piece. They are not declared frozen because that makes one four times as dear, and every chunk of a
stream makes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Channel = Literal["content", "reasoning"]
WholeCall = tuple[str, str, str]  # given, name, arguments


@dataclass(slots=True)
class Text:
    """Visible text of a channel. Never empty."""

    channel: Channel
    text: str


@dataclass(slots=True)
class CallOpened:
    """A call begins. `given` is the id as the model wrote it (the header's text), "" if the grammar has none."""

    given: str
    name: str


@dataclass(slots=True)
class CallArguments:
    """The next part of the open call's arguments. Never empty."""

    text: str


@dataclass(slots=True)
class CallClosed:
    """The open call ends. `cut`: the text ended inside it and the arguments are not valid JSON."""

    cut: bool = False


@dataclass(slots=True)
class WholeCalls:
    """Calls that are all there, one after the other. Each: the id as the model wrote it, the name, the arguments."""

    calls: list[WholeCall]


@dataclass(slots=True)
class Dropped:
    """Markup that was removed without a call: `why` goes into a note (`markers_parsed`)."""

    text: str
    why: str


Piece = Text | CallOpened | CallArguments | CallClosed | WholeCalls | Dropped


class Parser(Protocol):
    """One choice of one answer: text of either channel in, pieces out."""

    def feed(self, channel: Channel, text: str) -> list[Piece]: ...

    def close(self) -> list[Piece]: ...

    @property
    def idle(self) -> bool:
        """True if text without `<` fed now, to either channel, would come out at once, as it is, in its own channel.

        And the parser need not see it.
        """
        ...

    def idle_for(self, channel: Channel) -> bool:
        """The same for one channel."""
        ...
