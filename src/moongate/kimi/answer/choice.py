"""The state of one choice of an answer, for streams (`streamed_choice`) and for whole answers (`whole_choice`)."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Final, assert_never

from moongate.kimi.answer.call import AnswerCall, EmittedCalls
from moongate.kimi.answer.calls import CallWriter
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.answer.finish_reason import final_finish_reason
from moongate.kimi.answer.judge import ChoiceEnd
from moongate.kimi.answer.marker_watch import MarkerWatch
from moongate.kimi.markers.piece_builder import NAMELESS
from moongate.kimi.markers.pieces import (
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
from moongate.payload import JsonObject

REASONING_FIELDS: Final = ("reasoning_content", "reasoning")
TEXT_FIELDS: Final = frozenset(("content", *REASONING_FIELDS))

# What the client gets: text, a call that begins, arguments of a call, whole calls.
Emitted = Text | AnswerCall | tuple[AnswerCall, str] | EmittedCalls


class ChoiceState:
    """One per choice."""

    __slots__ = (
        "_open",
        "_waiting",
        "_watches",
        "answer",
        "calls",
        "cut_markup",
        "fields",
        "has_content",
        "index",
        "leaked",
        "parser",
        "truncated",
    )

    def __init__(self, answer: AnswerContext, index: int) -> None:
        self.answer = answer
        self.index = index
        self.calls = CallWriter(answer, index)
        self.parser = answer.parser() if answer.options.manual_tool_parsing else None
        self.fields: tuple[str, ...] = ("reasoning_content",)  # where this provider writes reasoning
        self.has_content = False  # there was content, or a refusal
        self.leaked = False  # a marker is in the text that the client gets
        self.cut_markup = False  # only because the text ended inside a header or a tag
        self.truncated = False  # the text ended inside the arguments of a call
        self._open: _OpenCall | None = None
        self._waiting: list[_OpenCall] = []  # the first one may turn out to repeat a native call that goes on
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
        elif "reasoning" in message and first is None and (second is not None or "reasoning_content" not in message):
            self.fields = ("reasoning",)  # it is empty, and shows the name that this provider uses
        content = message.get("content")
        if content and isinstance(content, str):
            found.append(("content", content))
        return found

    def is_watching(self, channel: Channel) -> bool:
        """Did the text of this field end in what may become a marker that has to be reported?"""
        watch = self._watches.get(channel) if self._watches else None
        return watch is not None and watch.pending and (self.parser is not None or bool(self.answer.tokens))

    def watch(self, channel: Channel, text: str) -> None:
        """Markers that are not parsed are reported, once."""
        watch = self._watches.get(channel)
        if watch is None:
            if not self.answer.tokens or not self.answer.may_hold_marker(text):  # nearly always
                return
            watch = self._watches[channel] = MarkerWatch(self.answer.tokens)
        marker = watch.find(text) if self.answer.tokens else None
        if marker is not None:
            self.leaked = True
            self.answer.marker_seen(f"choices[{self.index}].message.{channel}", marker)

    def look_for_leaks(self, channel: Channel, text: str) -> None:
        """Text that the parser let pass. A marker in it may come in parts, and behind a call."""
        watch = self._watches.get(channel) if self._watches else None
        if watch is None:
            if self.leaked or not self.answer.may_hold_marker(text):  # nearly always
                return
            watch = self._watches[channel] = MarkerWatch(self.answer.markers)
        if watch.find(text) is not None:
            self.leaked = True
            self._watches.clear()

    def text_ended(self, leaked: bool) -> None:
        """What the parser held back has left. `leaked`: a marker was visible before."""
        if self.leaked and not leaked:
            self.leaked, self.cut_markup = False, True

    def emit(self, pieces: list[Piece]) -> list[Emitted]:
        """What the client gets of what the parser read."""
        emitted: list[Emitted] = []
        for piece in pieces if len(pieces) == 1 else merged(pieces):
            if isinstance(piece, CallArguments):
                emitted += self._arguments(piece.text)
            elif isinstance(piece, Text):
                emitted.append(piece)
            elif isinstance(piece, WholeCalls):
                calls = piece.calls
                emitted += self._compared(calls) if self.calls.has_native else [self.calls.emit_whole(calls)]
            elif isinstance(piece, CallOpened):
                emitted += self._opened(piece.original_id, piece.name)
            elif isinstance(piece, CallClosed):
                self.truncated = self.truncated or piece.truncated
                emitted += self._close()
            elif isinstance(piece, Dropped):
                self.calls.nameless = self.calls.nameless or piece.why == NAMELESS
                self.answer.note("markers_parsed", f"choices[{self.index}].message", piece.text, piece.why)
                if piece.why == NAMELESS:
                    self.calls.drop_nameless(piece.text)
            else:
                assert_never(piece)
        return emitted

    def _compared(self, calls: list[WholeCall]) -> list[Emitted]:
        """Whole calls, each of which may be one that came natively."""
        emitted: list[Emitted] = []
        for original_id, name, arguments in calls:
            emitted += (*self._opened(original_id, name), *self._arguments(arguments), *self._close())
        return emitted

    def _opened(self, original_id: str, name: str) -> tuple[Emitted, ...]:
        self._open = _OpenCall(original_id, name)
        if self._waiting or self.calls.may_repeat(name):
            return ()
        self._open.call = self.calls.begin(original_id, name)
        return (self._open.call,)

    def _arguments(self, text: str) -> tuple[Emitted, ...]:
        assert self._open is not None  # arguments belong to a call
        call = self._open.call
        if call is None:
            self._open.held.append(text)
            return ()
        call.parts.append(text)
        return ((call, text),)

    def _close(self) -> tuple[Emitted, ...]:
        opened, self._open = self._open, None
        assert opened is not None
        if opened.call is not None:
            self.calls.closed(opened.call)
            return ()
        return self._whole(opened, may_wait=True)

    def late_calls(self) -> list[Emitted]:
        """The calls that waited for native ones, where the choice ends."""
        waiting, self._waiting = self._waiting, []
        return [emitted for opened in waiting for emitted in self._whole(opened, may_wait=False)]

    def _whole(self, opened: _OpenCall, may_wait: bool) -> tuple[Emitted, ...]:
        """A whole call that was held back, unless it came natively as well (section 5.7)."""
        if may_wait and (self._waiting or self.calls.may_yet_repeat(opened.name)):
            self._waiting.append(opened)
            return ()
        arguments = "".join(opened.held)
        if self.calls.repeats(opened.name, arguments):
            where = f"choices[{self.index}].message"
            self.answer.note("markers_parsed", where, opened.original_id, "the same call came natively")
            return ()
        call = self.calls.open(opened.original_id, opened.name)
        call.parts.append(arguments)
        return (call, (call, arguments))

    def finish_reason(self, reason: str | None) -> str | None:
        """The finish reason that the client sees for the one that came."""
        enforced = self.answer.options.enforce_finish_reason_loop
        final = final_finish_reason(reason, calls=self.calls.present, truncated=self.truncated, enforced=enforced)
        if final != reason:
            self.answer.note("finish_reason", f"choices[{self.index}].finish_reason", reason, final)
        if not self.has_content and not self.calls.present:
            self.answer.note("empty_turn", f"choices[{self.index}].message", reason, final)
        self.judge(reason)
        return final

    def judge(self, reason: str | None) -> None:
        """The choice is over, with this finish reason of the provider's."""
        end = ChoiceEnd(reason, self.truncated, self.leaked, self.cut_markup, self.calls.nameless, self.has_content)
        self.answer.judge.choice(self.index, self.calls.judged(), end)


def has_other_content(message: JsonObject) -> bool:
    """Whether a message or delta says something that is not read here: a refusal, or content in parts."""
    content = message.get("content")
    return bool(message.get("refusal")) or (isinstance(content, list) and bool(content))


class _OpenCall:
    """The call that the parser is reading. It is held back if it may repeat a native one (section 5.7)."""

    __slots__ = ("call", "held", "name", "original_id")

    def __init__(self, original_id: str, name: str) -> None:
        self.original_id = original_id
        self.name = name
        self.call: AnswerCall | None = None  # None: it is held back
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
