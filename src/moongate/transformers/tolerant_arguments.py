"""`enhancetool`: arguments of calls that are no JSON are mended where their meaning is certain.

A streamed call is held back until it is complete: whether its arguments are JSON shows at their end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from moongate.chat.base import BaseExchange
from moongate.chat.call_grouping import CallGrouping, CallSlot, arguments_text, function_of
from moongate.chat.contracts import Exchange
from moongate.chat.items import Chunk, Item, Opaque
from moongate.chat.progress import choice_index
from moongate.payload import JsonObject, dumps_text, object_of
from moongate.transformers.choices import edit_choices
from moongate.transformers.options import Configured
from moongate.transformers.tolerant_json import tolerant_object

MAX_HELD_CHARS: Final = 4 << 20  # of arguments; calls that are longer leave as they came


@dataclass(frozen=True, slots=True)
class EnhanceToolTransformer(Configured):
    """Makes the exchanges that mend arguments."""

    def begin(self, request: JsonObject) -> Exchange:
        return ArgumentsExchange(request)


def mended(arguments: Any) -> str | None:
    """Arguments as JSON text, None if they are JSON already or have no certain meaning.

    >>> mended("{'path': 'a.py',}")
    '{"path":"a.py"}'
    """
    if not isinstance(arguments, str) or not arguments.strip() or len(arguments) > MAX_HELD_CHARS:
        return None
    if object_of(arguments.encode("utf-8", "surrogatepass")) is not None:
        return None
    found = tolerant_object(arguments)
    return None if found is None else dumps_text(found)


class _MendedCall:
    """One call: its slot, which may be machine code and so has no subclasses here, and what is made of it."""

    __slots__ = ("mended", "slot", "written")

    def __init__(self, slot: CallSlot) -> None:
        self.slot = slot
        self.mended: str | None = None
        self.written = False


class ArgumentsExchange(BaseExchange):
    """One answer. Chunks behind the first call are held back until the choices with calls have finished."""

    def __init__(self, request: JsonObject) -> None:
        super().__init__(request)
        self._groupings: dict[int, CallGrouping[CallSlot]] = {}  # by choice
        self._calls: dict[CallSlot, _MendedCall] = {}
        self._open: set[int] = set()  # choices with calls that have not finished
        self._held: list[tuple[Chunk, list[_MendedCall]]] = []  # with the call of each delta in it
        self._chars = 0

    def reply(self, body: JsonObject) -> JsonObject:
        return edit_choices(body, self._whole)

    def feed(self, item: Item) -> Sequence[Item]:
        if isinstance(item, Opaque):
            return (item,)  # it keeps connections alive
        if not isinstance(item, Chunk):
            return [*self._released(), *super().feed(item)]
        calls = self._seen(item.payload)
        if not self._held and not calls:
            return (item,)
        self._held.append((item, calls))
        return self._released() if not self._open or self._chars > MAX_HELD_CHARS else ()

    def close(self) -> Sequence[Item]:
        return self._released()

    def _seen(self, payload: JsonObject) -> list[_MendedCall]:
        """The call of each delta in this chunk."""
        found: list[_MendedCall] = []
        choices = payload.get("choices")
        for at, choice in enumerate(choices if isinstance(choices, list) else ()):
            if not isinstance(choice, dict):
                continue
            index = choice_index(choice, at)
            for entry in _entries(choice.get("delta")):
                slot = self._groupings.setdefault(index, CallGrouping(CallSlot)).route(entry)
                found.append(self._calls.setdefault(slot, _MendedCall(slot)))
                self._chars += len(arguments_text(function_of(entry).get("arguments")))
                self._open.add(index)
            if choice.get("finish_reason"):
                self._open.discard(index)
        return found

    def _released(self) -> list[Item]:
        held, self._held = self._held, []
        for index, grouping in self._groupings.items():
            for at, slot in enumerate(grouping.slots):
                new = self._calls[slot].mended = mended(slot.arguments)
                self._noted(f"choices[{index}].delta.tool_calls[{at}]", slot.arguments, new)
        self._groupings, self._calls, self._open, self._chars = {}, {}, set(), 0
        return [_rewritten(chunk, calls) for chunk, calls in held]

    def _whole(self, choice: JsonObject, index: int) -> JsonObject:
        message = choice.get("message")
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(calls, list):
            return choice
        news = [self._call(each, f"choices[{index}].message.tool_calls[{at}]") for at, each in enumerate(calls)]
        if all(new is old for new, old in zip(news, calls, strict=True)):
            return choice
        return {**choice, "message": {**message, "tool_calls": news}}

    def _call(self, call: Any, where: str) -> Any:
        function = function_of(call) if isinstance(call, dict) else {}
        arguments = mended(function.get("arguments"))
        if arguments is None:
            return call
        self._noted(where, function["arguments"], arguments)
        return {**call, "function": {**function, "arguments": arguments}}

    def _noted(self, where: str, before: str, after: str | None) -> None:
        if after is not None:
            self.note("arguments", f"{where}.function.arguments", before, after)


def _entries(delta: Any) -> list[JsonObject]:
    calls = delta.get("tool_calls") if isinstance(delta, dict) else None
    return [each for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []


def _rewritten(chunk: Chunk, calls: list[_MendedCall]) -> Chunk:
    """The chunk with mended arguments: all of them in the first delta of a call that has some, none in the others."""
    if all(call.mended is None for call in calls):
        return chunk
    waiting = iter(calls)

    def edit(choice: JsonObject, _: int) -> JsonObject:
        if not (entries := _entries(choice.get("delta"))):
            return choice
        news = [_entry(entry, next(waiting)) for entry in entries]
        return {**choice, "delta": {**choice["delta"], "tool_calls": news}}

    return Chunk.of(edit_choices(chunk.payload, edit))


def _entry(entry: JsonObject, call: _MendedCall) -> JsonObject:
    function = function_of(entry)
    if call.mended is None or not arguments_text(function.get("arguments")):
        return entry
    arguments, call.written = "" if call.written else call.mended, True
    return {**entry, "function": {**function, "arguments": arguments}}
