"""The calls of one choice as they leave: names, ids, indexes, arguments (sections 3 and 5.10)."""

from __future__ import annotations

from typing import Any

from moongate.chat.grouping import CallSlot, Grouping, arguments_text, call_index, function_of
from moongate.kimi.answer import Answer
from moongate.kimi.beside import NativeCalls
from moongate.kimi.ids import Ledger
from moongate.payload import JsonObject


class Call(CallSlot):
    """One call. What came is in `given`, `name` and `parts`; what the client sees is in the rest."""

    __slots__ = ("held", "id", "index", "shown")

    def __init__(self) -> None:
        super().__init__()
        self.index = 0
        self.id: str | None = None  # None: the client does not know of it yet
        self.shown = ""
        self.held: JsonObject = {}  # what waits for the name

    def told(self) -> JsonObject:
        """The whole call."""
        function = {"name": self.shown or self.name, "arguments": self.arguments}
        return {"id": self.id or self.given, "type": "function", "function": function}


class Calls:
    """All calls of one choice, native ones and those read from markers."""

    __slots__ = ("_answer", "_grouping", "_ledger", "_native", "_next", "_used", "all", "present", "where")

    def __init__(self, answer: Answer, choice: int) -> None:
        self.where = f"choices[{choice}].message.tool_calls"
        self.present = False
        self.all: list[Call] = []  # in order of appearance
        self._answer = answer
        self._grouping = Grouping(Call)
        self._ledger: Ledger | None = None
        self._native = NativeCalls()
        self._used: set[int] = set()
        self._next = 0

    # Streams

    def deltas(self, entries: list[Any]) -> list[Any]:
        """What leaves of the native deltas of one chunk; the same list if nothing changed."""
        self.present = True
        answer = self._answer
        if not answer.mends_calls and not answer.options.assemble_tool_deltas:
            return entries
        left = [self._delta(entry) if isinstance(entry, dict) else entry for entry in entries]
        if not answer.mends_calls or all(new is old for new, old in zip(left, entries, strict=True)):
            return entries
        return [entry for entry in left if entry is not None]

    def _delta(self, entry: JsonObject) -> JsonObject | None:
        """The delta as it leaves; None if it waits for the name of its call."""
        call = self._grouping.route(entry)
        if call.fresh:
            self._number(call, call_index(entry))
        if call.id is not None:
            left = self._later(call, entry)
        elif call.name or not self._answer.ledger.active:
            left = self._first(call, _released(call, entry) if call.held else entry)
        else:
            call.held = _merged(call.held, entry)
            return None
        if self._answer.options.manual_tool_parsing:
            self._native.saw(call.shown, call)
        return left

    def _first(self, call: Call, entry: JsonObject) -> JsonObject:
        """The delta that tells the client of the call."""
        where = f"{self.where}[{len(self.all) - 1}]"
        function = function_of(entry)
        changes = self._identity(call, entry, where)
        if call.index != call_index(entry):
            changes["index"] = call.index
            self._answer.note("stream_shape", f"{where}.index", entry.get("index"), call.index)
        inner = {} if call.shown == (function.get("name") or "") else {"name": call.shown}
        inner.update(self._arguments(function, where))
        return _changed(entry, changes, function, inner)

    def _later(self, call: Call, entry: JsonObject) -> JsonObject:
        """A delta of a call that the client knows: no id, and no second name."""
        function = function_of(entry)
        inner = self._arguments(function, self.where)
        active = self._answer.ledger.active
        extra_id = active and bool(entry.get("id"))
        extra_name = bool(function.get("name")) and (self._answer.renames or (active and function["name"] != call.name))
        if not (extra_id or extra_name or inner or call.index != call_index(entry)):
            return entry
        left = {key: value for key, value in entry.items() if value or key not in ("id", "type")}
        if active:
            left.pop("id", None)
        left["index"] = call.index
        if function:
            kept = {key: value for key, value in function.items() if key != "name" or (value and not active)}
            left["function"] = {**kept, **inner}
        return left

    def unfinished(self) -> list[JsonObject]:
        """Deltas without which the choice cannot end: calls whose name never came, calls without arguments."""
        if not self._answer.ledger.active:
            return []
        left: list[JsonObject] = []
        for call in self._grouping.slots:
            if call.id is None:
                left.append(self._first(call, _released(call, {})))
            if not call.parts:
                call.parts.append("{}")
                self._answer.note("arguments", self.where, "", "{}")
                left.append({"index": call.index, "function": {"arguments": "{}"}})
        return left

    # Whole answers

    def whole(self, entries: list[Any]) -> list[Any]:
        """The native calls of a whole answer; the same list if nothing changed."""
        self.present = bool(entries)
        if not self._answer.mends_calls and not self._answer.options.repair_arguments:
            return entries
        left = [self._whole(entry) if isinstance(entry, dict) else entry for entry in entries]
        return entries if all(new is old for new, old in zip(left, entries, strict=True)) else left

    def _whole(self, entry: JsonObject) -> JsonObject:
        call = Call()
        where = f"{self.where}[{len(self.all)}]"
        self._number(call, None)
        function = function_of(entry)
        call.given, call.name = _text(entry.get("id")), _text(function.get("name"))
        changes = self._identity(call, entry, where)
        inner = {} if call.shown == (function.get("name") or "") else {"name": call.shown}
        inner.update(self._arguments(function, where))
        if self._answer.ledger.active and not inner.get("arguments", function.get("arguments")):
            inner["arguments"] = "{}"
            self._answer.note("arguments", f"{where}.function.arguments", function.get("arguments"), "{}")
        text = inner.get("arguments", function.get("arguments"))
        if isinstance(text, str):
            mended = self._answer.mended_arguments(text, where)
            if mended != text:
                inner["arguments"] = text = mended
            call.parts.append(text)
        if self._answer.options.manual_tool_parsing:
            self._native.saw(call.shown, call)
        return _changed(entry, changes, function, inner)

    # Both

    def _identity(self, call: Call, entry: JsonObject, where: str) -> JsonObject:
        """Settle the name and the id of a call, and say which members of its entry change."""
        answer = self._answer
        call.shown = answer.shown_name(call.name, where)
        given = answer.shown_id(call.given)
        changes: JsonObject = {}
        call.id = self._claim(given, call.shown)
        if call.id != _text(entry.get("id")):
            changes["id"] = call.id
            answer.note("id", f"{where}.id", entry.get("id"), call.id)
        if answer.ledger.active and not entry.get("type"):
            changes["type"] = "function"
        return changes

    def _arguments(self, function: JsonObject, where: str) -> JsonObject:
        arguments = function.get("arguments")
        if arguments is None or isinstance(arguments, str) or not self._answer.ledger.active:
            return {}
        text = arguments_text(arguments)
        self._answer.note("arguments", f"{where}.function.arguments", arguments, text)
        return {"arguments": text}

    def _claim(self, given: str, name: str) -> str:
        if not self._answer.ledger.active:
            return given
        if self._ledger is None:
            self._ledger = self._answer.ledger.fork()
        return self._ledger.claim(given or None, name)

    def _number(self, call: Call, index: int | None) -> None:
        """The call's place: its own index if that is free, else the next one."""
        call.index = self._next if index is None or index in self._used else index
        self._used.add(call.index)
        self._next = max(self._next, call.index + 1)
        self.all.append(call)

    # Markers

    def may_repeat(self, name: str) -> bool:
        """May a call of this name, read from markers, turn out to be one that came natively?"""
        return self._native.has_name(self._answer.names.original(name))

    def repeats(self, name: str, arguments: str) -> bool:
        return self._native.has(self._answer.names.original(name), arguments)

    def open(self, given: str, name: str) -> Call:
        """A call that was read from markers."""
        self.present = True
        call = Call()
        self._number(call, None)
        call.shown = self._answer.names.original(name)
        # A grammar without ids, and nobody to make them: a call without an id is of no use to a client.
        call.id = self._claim(self._answer.shown_id(given), call.shown) or f"{call.shown}_{call.index}"
        self._answer.note("markers_parsed", f"{self.where}[{len(self.all) - 1}]", given, call.id)
        return call


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _merged(held: JsonObject, entry: JsonObject) -> JsonObject:
    """All deltas so far of a call that waits for its name, as one. Its arguments wait in the call."""
    said = {key: value for key, value in function_of(entry).items() if value is not None}
    return {
        **held,
        **{key: value for key, value in entry.items() if value is not None},
        "function": {**function_of(held), **said},
    }


def _released(call: Call, entry: JsonObject) -> JsonObject:
    """The delta that tells of a call which waited."""
    merged = _merged(call.held, entry)
    merged["function"]["arguments"] = call.arguments
    return {**merged, "id": call.given} if call.given else merged


def _changed(entry: JsonObject, changes: JsonObject, function: JsonObject, inner: JsonObject) -> JsonObject:
    if inner:
        changes["function"] = {**function, **inner}
    return {**entry, **changes} if changes else entry
