"""What one choice of an answer has said so far. The same for streams (stream.py) and whole answers (whole.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from moongate.kimi.answer import Answer
from moongate.kimi.calls import Call, Calls
from moongate.kimi.finish import judged
from moongate.kimi.pieces import CallArguments, CallClosed, CallOpened, Channel, Dropped, Piece, Text
from moongate.kimi.watch import MarkerWatch
from moongate.payload import JsonObject

REASONING_FIELDS: Final = ("reasoning_content", "reasoning")
TEXT_FIELDS: Final = frozenset(("content", *REASONING_FIELDS))

Told = Text | Call | tuple[Call, str]  # text, a call that begins, arguments of a call


class ChoiceState:
    """One per choice."""

    __slots__ = ("_open", "_watches", "answer", "calls", "cut", "fields", "index", "parser", "said")

    def __init__(self, answer: Answer, index: int) -> None:
        self.answer = answer
        self.index = index
        self.calls = Calls(answer, index)
        self.parser = answer.parser()
        self.fields: tuple[str, ...] = ("reasoning_content",)  # where this provider writes reasoning
        self.said = False  # there was content, or a refusal
        self.cut = False  # the text ended inside the arguments of a call
        self._open: _OpenCall | None = None
        self._watches: dict[Channel, MarkerWatch] = {}

    def texts(self, message: JsonObject) -> list[tuple[Channel, str]]:
        """The texts of a delta or message, reasoning first."""
        found: list[tuple[Channel, str]] = []
        names = [name for name in REASONING_FIELDS if message.get(name) and isinstance(message[name], str)]
        if names:
            # Hosts that are renaming the field send the same text under both names.
            same = message[names[0]] == message[names[-1]]
            self.fields = tuple(names) if same else (names[0],)
            found.append(("reasoning", message[names[0]]))
        content = message.get("content")
        if content and isinstance(content, str):
            found.append(("content", content))
        return found

    def is_watching(self, channel: Channel) -> bool:
        """Did the text of this field end in what may become a marker?"""
        watch = self._watches.get(channel)
        return watch is not None and watch.pending

    def watch(self, channel: Channel, text: str) -> None:
        """Markers that nobody parses are told of, once."""
        tokens = self.answer.tokens
        if not tokens:
            return
        if channel not in self._watches:
            self._watches[channel] = MarkerWatch(tokens)
        marker = self._watches[channel].find(text)
        if marker is not None:
            self.answer.marker_seen(f"choices[{self.index}].message.{channel}", marker)

    def told(self, pieces: list[Piece]) -> Iterator[Told]:
        """What the client is told of what the parser read."""
        for piece in _merged(pieces):
            match piece:
                case Text():
                    yield piece
                case CallOpened(given, name):
                    self._open = _OpenCall(given, name)
                    if not self.calls.may_repeat(name):
                        yield self._begin(self._open)
                case CallArguments(text):
                    yield from self._say(text)
                case CallClosed(cut):
                    self.cut = self.cut or cut
                    yield from self._close()
                case Dropped(text, why):
                    self.answer.note("markers_parsed", f"choices[{self.index}].message", text, why)
                case _:
                    assert_never(piece)

    def _begin(self, opened: _OpenCall) -> Call:
        opened.call = self.calls.open(opened.given, opened.name)
        return opened.call

    def _say(self, text: str) -> Iterator[Told]:
        opened = self._open
        if opened is not None and opened.call is not None:
            opened.call.parts.append(text)
            yield opened.call, text
        elif opened is not None:
            opened.held.append(text)

    def _close(self) -> Iterator[Told]:
        opened, self._open = self._open, None
        if opened is None or opened.call is not None:
            return
        arguments = "".join(opened.held)
        if self.calls.repeats(opened.name, arguments):
            self.answer.note("markers_parsed", self.calls.where, opened.given, "the same call came natively")
            return
        call = self._begin(opened)
        yield call
        call.parts.append(arguments)
        yield call, arguments

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


def _merged(pieces: list[Piece]) -> Iterator[Piece]:
    """Neighbouring pieces of the same text, as one."""
    run: list[str] = []
    last: Text | CallArguments | None = None
    for piece in pieces:
        if isinstance(piece, Text | CallArguments):
            if last is not None and _goes_on(last, piece):
                run.append(piece.text)
                continue
            if last is not None:
                yield _with_text(last, run)
            last, run = piece, [piece.text]
        else:
            if last is not None:
                yield _with_text(last, run)
                last = None
            yield piece
    if last is not None:
        yield _with_text(last, run)


def _goes_on(last: Text | CallArguments, piece: Text | CallArguments) -> bool:
    if isinstance(last, Text):
        return isinstance(piece, Text) and piece.channel == last.channel
    return isinstance(piece, CallArguments)


def _with_text(piece: Text | CallArguments, run: list[str]) -> Text | CallArguments:
    if len(run) == 1:
        return piece
    return Text(piece.channel, "".join(run)) if isinstance(piece, Text) else CallArguments("".join(run))
