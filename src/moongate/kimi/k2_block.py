"""What stands behind a callBegin: a call, or text after all (sections 5.3 to 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from moongate import payload
from moongate.kimi.arguments import Arguments
from moongate.kimi.headers import Header, read_header
from moongate.kimi.json_scan import WHOLE
from moongate.kimi.offer import Offer
from moongate.kimi.pieces import CallOpened, Dropped
from moongate.kimi.visible import FORBIDDEN, Visible


class Fate(Enum):
    CALL = "a call, its arguments leave as they come"
    LATE = "a call, if its argument keys name a tool"
    TEXT = "it names nothing and stays visible"
    GONE = "a call that may not be made"


CALL, LATE, TEXT, GONE = Fate  # to look a member up in its class is slow


@dataclass(frozen=True, slots=True)
class Desk:
    """What calls are judged by and where they go."""

    offer: Offer
    visible: Visible
    mend: bool


class Block:
    """A header with argBegin and the arguments that follow. `opening` is its text so far, as it came."""

    __slots__ = ("_desk", "_doubted", "_header", "_opening", "_raw", "_said", "_visible", "arguments", "fate")

    def __init__(self, opening: str, header: Header, desk: Desk) -> None:
        self._opening = opening
        self._header = header
        self._desk = desk
        self._visible = desk.visible
        self._raw: list[str] = []  # LATE: the arguments as they came
        self._said: list[str] = []  # LATE: the arguments as they would leave
        self._doubted: list[str] | None = None  # what would leave if it belongs to the arguments
        self.arguments = Arguments(desk.mend)
        self.fate = self._judge()

    def _judge(self) -> Fate:
        if not self._desk.offer.calls_allowed:
            self._visible.after()
            return GONE
        if self._header.name:
            self._visible.after()
            self._visible.add(CallOpened(self._header.given, self._header.name))
            return CALL
        if self._header.by_keys:
            return LATE
        self._visible.say(self._opening)
        return TEXT

    def feed(self, text: str, marker: bool = False) -> None:
        """The next part of the arguments. `marker`: it is one, but none that ends them."""
        said = self.arguments.marker(text) if marker else self.arguments.feed(text)
        if self._doubted is not None:
            self._doubted.append(said)
        else:
            self._pass(text, said)

    def doubt(self) -> None:
        """From here on text may belong to the arguments or not."""
        self.arguments.doubt()
        self._doubted = []

    def accept(self, raw: str) -> None:
        """It did. `raw` is that text as it came."""
        said, self._doubted = "".join(self._doubted or ()), None
        self._pass(raw, said)

    def retract(self) -> None:
        """It did not."""
        self.arguments.retract()
        self._doubted = None

    def end(self, closing: str) -> bool:
        """The arguments end. `closing` is shown if the block is text. True: it was a call."""
        if self.fate is CALL:
            return self._close(cut=False)
        if self.fate is GONE:
            self._visible.add(Dropped(self._opening, FORBIDDEN))
            self._visible.after()
            return True
        if self.fate is LATE and self._named():
            return True
        if self.fate is LATE:
            closing = "".join((self._opening, *self._raw, closing))
        if closing:
            self._visible.say(closing)
        return False

    def end_of_text(self, piece: str) -> None:
        """The same where the text ends, with a piece of a marker or not."""
        if self.fate is CALL:
            self._close(cut=self.arguments.verdict() is not WHOLE)
        else:
            self.end(piece)

    def _pass(self, raw: str, said: str) -> None:
        if self.fate is CALL:
            self._visible.argue(said)
        elif self.fate is LATE:
            self._raw.append(raw)
            self._said.append(said)
        elif self.fate is TEXT:
            self._visible.say(raw)

    def _close(self, cut: bool) -> bool:
        self._visible.argue(self.arguments.close())
        self._visible.close_call(cut)
        return True

    def _named(self) -> bool:
        """Do the argument keys name a tool? Then the call leaves as a whole."""
        text = "".join((*self._said, self.arguments.close()))
        arguments = payload.object_of(text)
        name = None if arguments is None else self._desk.offer.only_fit(arguments.keys())
        if name is None:
            return False
        self._visible.calls([(self._header.given, name, text)])
        return True


def bare_call(text: str, desk: Desk) -> bool:
    """A header that ends without argBegin: is it a call?"""
    header = read_header(text, desk.offer)
    if not desk.offer.calls_allowed:
        if header.name:
            desk.visible.add(Dropped(text, FORBIDDEN))
            desk.visible.after()
        return bool(header.name)
    if header.name and desk.offer.has(header.name):
        desk.visible.calls([(header.given, header.name, "{}")])
        return True
    return False
