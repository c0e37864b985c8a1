"""One answer as a sequence of blocks: reasoning, text and calls, one open at a time.

The fronts that answer in blocks (messages, responses) share this, for streams and for whole answers: payloads come in,
and the hooks of a subclass are called in strict order: `_begin`, then per block `_open`, `_add` …, `_shut`, then
`_finish`.

Calls whose pieces interleave: a call stays open until its arguments are a complete JSON value. What comes for later
blocks is held back, `MAX_HELD` characters at most; the end of the answer releases it.

A custom call (`type: "custom"`) has text instead of arguments. Here it is a call whose arguments are an object with
that text as its member `input`, as custom tools are declared to the provider; it ends with the answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Final

from moongate.dialects.blocks import Block, Kind
from moongate.dialects.chat_answer import (
    AnswerHead,
    Finish,
    arguments_of,
    custom_body,
    first_choice,
    head_of,
    reasoning_of,
    stop_of,
    text_of,
)
from moongate.errors import BadUpstream
from moongate.payload import JsonObject, dumps_text
from moongate.wire.threads import let_threads_run

_CUSTOM_BEGIN: Final = '{"input":"'  # around the text of a custom call
_CUSTOM_END: Final = '"}'

MAX_HELD: Final = 8 * 1024 * 1024  # as much as one event may hold


class BlockSequence(ABC):
    """The payloads of one answer → its blocks, in order. Only the first choice is read.

    Raises BadUpstream if more is held back than the limit allows.
    """

    def __init__(self) -> None:
        self._begun = False
        self._ended = False
        self._current: Block | None = None
        self._held: deque[Block] = deque()
        self._held_size = 0
        self._calls: dict[object, Block] = {}
        self._last_call: object = None
        self._reason: str | None = None
        self._stop: str | None = None
        self._usage: JsonObject | None = None
        self._half = ""  # the first half of a character whose second half comes with the next text

    @abstractmethod
    def _begin(self, head: AnswerHead) -> bytes: ...

    @abstractmethod
    def _open(self, block: Block) -> bytes: ...

    @abstractmethod
    def _add(self, text: str) -> bytes: ...

    @abstractmethod
    def _shut(self) -> bytes: ...

    @abstractmethod
    def _finish(self, finish: Finish) -> bytes: ...

    def _read(self, payload: JsonObject, member: str) -> bytes:
        """Read a payload; the content is in this member of its first choice."""
        out = b"" if self._begun else self._start(payload)
        usage = payload.get("usage")
        if usage and isinstance(usage, dict):
            self._usage = usage
        choice = first_choice(payload)
        if choice is None:
            return out
        delta = choice.get(member)
        if delta and isinstance(delta, dict):
            calls = delta.get("tool_calls")
            if not calls or len(delta) > 1:
                if reasoning := reasoning_of(delta):
                    out += self._text("reasoning", reasoning)
                if text := text_of(delta):
                    out += self._text("text", text)
            if calls and isinstance(calls, list):
                out += b"".join([self._call_delta(call) for call in calls if isinstance(call, dict)])
        reason = choice.get("finish_reason")
        if reason:
            self._reason, self._stop = str(reason), stop_of(choice)
            out += self._release()
        return out

    def _start(self, payload: JsonObject) -> bytes:
        self._begun = True
        return self._begin(head_of(payload))

    def _text(self, kind: Kind, text: str) -> bytes:
        """Text of a channel: into the open block, a new one, or one that is held back."""
        current = self._current
        if self._held:
            if self._held[-1].kind != kind:
                self._held.append(Block(kind))
            return self._hold(self._held[-1], text)
        if current is not None and current.kind == kind:
            return self._emit(text)
        block = Block(kind)
        if current is None or current.done():
            return self._switch_to(block) + self._emit(text)
        self._held.append(block)
        return self._hold(block, text)

    def _emit(self, text: str) -> bytes:
        """Text into the open block. Clients cannot put a character together that two events cut in half."""
        if self._half:
            text = (self._half + text).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            self._half = ""
        if 0xD800 <= ord(text[-1]) <= 0xDBFF:
            self._half, text = text[-1], text[:-1]
            if not text:
                return b""
        return self._add(text)

    def _call_delta(self, delta: JsonObject) -> bytes:
        let_threads_run()  # an answer may hold a hundred thousand calls
        function, key = delta.get("function"), delta.get("index")
        custom: JsonObject = {}
        if not isinstance(function, dict):
            function = custom = custom_body(delta)
        block = self._calls.get(key) if isinstance(key, int) else None
        if block is not None and block is self._current and not self._held:  # almost every delta of a call
            self._last_call = key
            return self._arguments(block, text) if (text := arguments_of(function)) else b""
        name, given = function.get("name"), delta.get("id")
        if not isinstance(key, int):  # without a number a named delta begins a call, another goes on with the last
            key = len(self._calls) if name or self._last_call is None else self._last_call
        self._last_call = key
        block, out = self._calls.get(key), b""
        if block is None:
            block = self._calls[key] = Block("call")
            self._held.append(block)
            if custom:
                block.custom = True
                self._hold(block, _CUSTOM_BEGIN)
        block.name = block.name or (name if isinstance(name, str) else "")
        block.id = block.id or (given if isinstance(given, str) else "")
        if text := arguments_of(function):
            out = self._arguments(block, text)
        return out + self._advance() if self._held else out

    def _arguments(self, block: Block, text: str) -> bytes:
        """A piece of a call's arguments. What comes after the end of its JSON is dropped."""
        if block.custom:
            text = dumps_text(text)[1:-1]
        if block is self._current:
            block.pieces.append(text)
            if block.nesting is not None:
                block.nesting.feed(text)
            return self._emit(text)
        return b"" if block.shut else self._hold(block, text)

    def _hold(self, block: Block, text: str) -> bytes:
        block.pieces.append(text)
        self._held_size += len(text)
        check_held(self._held_size)
        return b""

    def _advance(self) -> bytes:
        """Open the held blocks that can be opened now."""
        out: list[bytes] = []
        while self._held and (self._held[0].name or self._held[0].kind != "call"):
            if self._current is not None and not self._current.done():
                break
            out.append(self._next_held())
        return b"".join(out)

    def _next_held(self) -> bytes:
        block = self._held.popleft()
        text = "".join(block.pieces)
        self._held_size -= len(text)
        out = self._switch_to(block)
        return out + self._emit(text) if text else out

    def _switch_to(self, block: Block) -> bytes:
        out = self._shut_current()
        self._current = block
        return out + self._open(block)

    def _shut_current(self) -> bytes:
        if self._current is None:
            return b""
        out = self._add(self._half) if self._half else b""
        self._half = ""
        if self._current.custom:
            out += self._add(_CUSTOM_END)
        self._current.shut = True
        self._current = None
        return out + self._shut()

    def _release(self) -> bytes:
        """Nothing more comes: every block that was held back leaves, the open one ends."""
        if not self._held:
            return self._shut_current()
        out = [self._next_held() for _ in range(len(self._held))]
        return b"".join(out) + self._shut_current()

    def _end(self) -> bytes:
        """The answer is complete."""
        out = b"" if self._begun else self._start({})
        out += self._release()
        self._ended = True
        reason = self._reason or ("tool_calls" if self._calls else "stop")
        finish = self._finish(Finish(reason, self._stop, self._usage))
        return out + finish if out else finish  # it may be large


def check_held(size: int) -> None:
    """Raises BadUpstream if more is held back than the limit allows."""
    if size > MAX_HELD:
        raise BadUpstream("the provider's parallel calls interleave beyond the limit")
