"""What one choice of an answer has said so far. The same for streams (stream.py) and whole answers (whole.py)."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Final, assert_never

from moongate.kimi.answer import Answer
from moongate.kimi.call import Call, ToldCalls
from moongate.kimi.calls import Calls
from moongate.kimi.finish import judged
from moongate.kimi.pieces import (
    CallArguments,
    CallClosed,
    CallOpened,
    Channel,
    Dropped,
    Piece,
    Text,
    WholeCall,
    WholeCalls,
)
from moongate.kimi.watch import MarkerWatch
from moongate.payload import JsonObject

REASONING_FIELDS: Final = ("reasoning_content", "reasoning")
TEXT_FIELDS: Final = frozenset(("content", *REASONING_FIELDS))

Told = Text | Call | tuple[Call, str] | ToldCalls  # text, a call that begins, arguments of a call, whole calls


class ChoiceState:
    """One per choice."""

    __slots__ = ("_open", "_watches", "answer", "calls", "cut", "fields", "index", "parser", "said")

    def __init__(self, answer: Answer, index: int) -> None:
        self.answer = answer
        self.index = index
        self.calls = Calls(answer, index)
        self.parser = answer.parser() if answer.options.manual_tool_parsing else None
        self.fields: tuple[str, ...] = ("reasoning_content",)  # where this provider writes reasoning
        self.said = False  # there was content, or a refusal
        self.cut = False  # the text ended inside the arguments of a call
        self._open: _OpenCall | None = None
        self._watches: dict[Channel, MarkerWatch] = {}

    def texts(self, message: JsonObject) -> list[tuple[Channel, str]]:
        """The texts of a delta or message, reasoning first."""
        found: list[tuple[Channel, str]] = []
        first, second = message.get("reasoning_content"), message.get("reasoning")
        if first and isinstance(first, str):
            # Hosts that are renaming the field send the same text under both names.
            self.fields = REASONING_FIELDS if second == first else ("reasoning_content",)
            found.append(("reasoning", first))
        elif second and isinstance(second, str):
            self.fields = ("reasoning",)
            found.append(("reasoning", second))
        content = message.get("content")
        if content and isinstance(content, str):
            found.append(("content", content))
        return found

    def is_watching(self, channel: Channel) -> bool:
        """Did the text of this field end in what may become a marker, and does anybody want to know?"""
        watch = self._watches.get(channel) if self._watches else None
        return watch is not None and watch.pending and bool(self.answer.tokens)

    def watch(self, channel: Channel, text: str) -> None:
        """Markers that nobody parses are told of, once."""
        watch = self._watches.get(channel)
        if watch is None:
            tokens, gate = self.answer.tokens, self.answer.gate
            if not tokens or (gate == b"<" and "<" not in text):  # nearly always
                return
            watch = self._watches[channel] = MarkerWatch(tokens)
        marker = watch.find(text) if self.answer.tokens else None
        if marker is not None:
            self.answer.marker_seen(f"choices[{self.index}].message.{channel}", marker)

    def told(self, pieces: list[Piece]) -> list[Told]:
        """What the client is told of what the parser read."""
        told: list[Told] = []
        for piece in pieces if len(pieces) == 1 else merged(pieces):
            if isinstance(piece, CallArguments):
                told += self._say(piece.text)
            elif isinstance(piece, Text):
                told.append(piece)
            elif isinstance(piece, WholeCalls):
                told += self._compared(piece.calls) if self.calls.beside else [self.calls.opened(piece.calls)]
            elif isinstance(piece, CallOpened):
                told += self._opened(piece.given, piece.name)
            elif isinstance(piece, CallClosed):
                self.cut = self.cut or piece.cut
                told += self._close()
            elif isinstance(piece, Dropped):
                self.answer.note("markers_parsed", f"choices[{self.index}].message", piece.text, piece.why)
            else:
                assert_never(piece)
        return told

    def _compared(self, calls: list[WholeCall]) -> list[Told]:
        """Whole calls, each of which may be one that came natively."""
        told: list[Told] = []
        for given, name, arguments in calls:
            told += (*self._opened(given, name), *self._say(arguments), *self._close())
        return told

    def _opened(self, given: str, name: str) -> tuple[Told, ...]:
        self._open = _OpenCall(given, name)
        return () if self.calls.may_repeat(name) else (self._begin(self._open),)

    def _begin(self, opened: _OpenCall) -> Call:
        opened.call = self.calls.open(opened.given, opened.name)
        return opened.call

    def _say(self, text: str) -> tuple[Told, ...]:
        assert self._open is not None  # arguments belong to a call
        call = self._open.call
        if call is None:
            self._open.held.append(text)
            return ()
        call.parts.append(text)
        return ((call, text),)

    def _close(self) -> tuple[Told, ...]:
        opened, self._open = self._open, None
        assert opened is not None
        if opened.call is not None:
            return ()
        arguments = "".join(opened.held)
        if self.calls.repeats(opened.name, arguments):
            where = f"choices[{self.index}].message"
            self.answer.note("markers_parsed", where, opened.given, "the same call came natively")
            return ()
        call = self._begin(opened)
        call.parts.append(arguments)
        return (call, (call, arguments))

    def finish_reason(self, reason: str | None) -> str | None:
        """The finish reason that the client sees for the one that came."""
        enforced = self.answer.options.enforce_finish_reason_loop
        final = judged(reason, calls=self.calls.present, cut=self.cut, enforced=enforced)
        if final != reason:
            self.answer.note("finish_reason", f"choices[{self.index}].finish_reason", reason, final)
        if not self.said and not self.calls.present:
            self.answer.note("empty_turn", f"choices[{self.index}].message", reason, final)
        return final


class _OpenCall:
    """The call that the parser is reading. It waits if it may be one that came natively (section 5.7)."""

    __slots__ = ("call", "given", "held", "name")

    def __init__(self, given: str, name: str) -> None:
        self.given = given
        self.name = name
        self.call: Call | None = None  # None: it waits
        self.held: list[str] = []


def merged(pieces: list[Piece]) -> list[Piece]:
    """The pieces, with neighbours that go on with the same text as one."""
    left: list[Piece] = []
    for kind, group in groupby(pieces, _kind):
        run = list(group)
        if kind is not None and len(run) > 1:
            run = [replace(run[0], text="".join(piece.text for piece in run))]  # type: ignore[arg-type, union-attr]
        left += run
    return left


def _kind(piece: Piece) -> str | None:
    """What text a piece goes on with; None for one that is more than text."""
    if isinstance(piece, CallArguments):
        return "arguments"
    return piece.channel if isinstance(piece, Text) else None
