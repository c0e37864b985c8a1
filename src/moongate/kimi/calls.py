"""The calls of one choice as they leave: names, ids, indexes, arguments (sections 3 and 5.10)."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_, itemgetter
from typing import Any

from moongate.chat.grouping import Grouping, arguments_text, call_index, function_of, text_of
from moongate.kimi.answer import Answer
from moongate.kimi.beside import NativeCalls
from moongate.kimi.call import Call, ToldCalls, changed, lacks_index
from moongate.kimi.ids import Ledger, plain_tool_name
from moongate.kimi.pieces import WholeCall
from moongate.payload import JsonObject


class Calls:
    """All calls of one choice, native ones and those read from markers."""

    __slots__ = (
        *("_active", "_answer", "_assembles", "_choice", "_grouping", "_ledger", "_mends", "_native", "_next", "_used"),
        *("all", "present"),
    )

    def __init__(self, answer: Answer, choice: int) -> None:
        self.present = False
        self.all: list[Call] = []  # of a stream, in order of appearance; only where they are assembled (section 7)
        self._answer = answer
        self._assembles = answer.options.assemble_tool_deltas
        self._active = answer.ledger.active  # section 3 is on
        self._choice = choice
        self._grouping: Grouping[Call] | None = None
        self._ledger: Ledger | None = None
        self._native: NativeCalls | None = None
        self._mends = answer.mends_calls  # deltas may change
        self._used: set[int] = set()
        self._next = 0

    def note(self, kind: str, call: int, member: str, before: Any, after: Any) -> None:
        """A note about one member of one call."""
        self._answer.notes.about_call(kind, self._choice, call, member, before, after)

    # Streams

    def deltas(self, entries: list[Any]) -> list[Any]:
        """What leaves of the native deltas of one chunk; the same list if nothing changed."""
        answer = self._answer
        if not self.present:
            self.present = True
            # Section 11 gives an index to calls without one, ids repaired or not.
            self._mends = answer.mends_calls or (answer.mends_shape and any(map(lacks_index, entries)))
        if not self._mends and not self._assembles:
            return entries
        if self._grouping is None:
            self._grouping = Grouping(Call)
        route = self._grouping.route
        left = [self._delta(route(entry), entry) if isinstance(entry, dict) else entry for entry in entries]
        if not self._mends or all(map(is_, left, entries)):
            return entries
        return [entry for entry in left if entry is not None]

    def _delta(self, call: Call, entry: JsonObject) -> JsonObject | None:
        """The delta as it leaves; None if it waits for the name of its call."""
        if call.fresh:
            self._number(call, call_index(entry))
        if call.id is not None:
            left = self._later(call, entry)
        elif call.name or not self._active:
            left = self._first(call, call.released(entry) if call.held else entry)
        else:
            call.hold(entry)
            return None
        if self._answer.options.manual_tool_parsing:
            self._saw(call)
        return left

    def _first(self, call: Call, entry: JsonObject) -> JsonObject:
        """The delta that tells the client of the call."""
        function = function_of(entry)
        call.shown = self._shown(call.name, call.index)
        call.id, changes = self._identity(entry, call.given, call.shown, call.index)
        if call.index != call_index(entry):
            changes["index"] = call.index
            self.note("stream_shape", call.index, ".index", entry.get("index"), call.index)
        inner = self._arguments(function, call.index)
        if call.shown != (function.get("name") or ""):
            inner["name"] = call.shown
        return changed(entry, changes, function, inner)

    def _later(self, call: Call, entry: JsonObject) -> JsonObject:
        """A delta of a call that the client knows: no id, and no second name."""
        function, active = function_of(entry), self._active
        name = function.get("name")
        extra_name = bool(name) and (self._answer.renames or (active and name != call.shown))
        extra_id = active and bool(entry.get("id"))
        inner = self._arguments(function, call.index)
        if not (extra_id or extra_name or inner or call.index != call_index(entry)):
            return entry
        if not call.noted:
            call.noted = True
            self.note("stream_shape", call.index, "", entry.get("id") or name, None)
        left = {key: value for key, value in entry.items() if value or key not in ("id", "type")}
        if active:
            left.pop("id", None)
        left["index"] = call.index
        if function:
            unnamed = active or extra_name or not name
            kept = {key: value for key, value in function.items() if key != "name" or not unnamed}
            left["function"] = {**kept, **inner}
        return left

    def unfinished(self) -> list[JsonObject]:
        """Deltas without which the choice cannot end: calls whose name never came, calls without arguments."""
        if self._grouping is None or not self._active:
            return []
        left: list[JsonObject] = []
        for call in self._grouping.slots:
            if call.id is None:
                left.append(self._first(call, call.released({})))
            if not call.parts:
                call.parts.append("{}")
                self.note("arguments", call.index, ".function.arguments", "", "{}")
                left.append({"index": call.index, "function": {"arguments": "{}"}})
        return left

    # Whole answers

    def whole(self, entries: list[Any]) -> list[Any]:
        """The native calls of a whole answer; the same list if nothing changed."""
        self.present = bool(entries)
        self._next = len(entries)
        answer = self._answer
        if not answer.mends_calls and not answer.options.repair_arguments:
            return entries
        left = []
        same = True
        for at, entry in enumerate(entries):
            mended = entry
            if isinstance(entry, dict):
                mended = self._usual(entry, at) if answer.only_ids else None
                if mended is None:
                    mended = self._whole(entry, at)
                same = same and mended is entry
            left.append(mended)
        return entries if same else left

    def _usual(self, entry: JsonObject, at: int) -> JsonObject | None:
        """A call with nothing in it that could be wrong but the id; None if it is not such a one."""
        function = entry.get("function")
        if type(function) is not dict or not entry.get("type"):
            return None
        name, arguments = function.get("name"), function.get("arguments")
        if type(name) is not str or type(arguments) is not str or not arguments or name.startswith("functions"):
            return None
        given = entry.get("id")
        if self._ledger is None:
            self._ledger = self._answer.ledger.fork()
        final = self._ledger.claim(given if type(given) is str else "", name)
        if final == given:
            return entry
        self._answer.notes.about_call("id", self._choice, at, ".id", given, final)
        return {**entry, "id": final}

    def _whole(self, entry: JsonObject, at: int) -> JsonObject:
        function = function_of(entry)
        name = text_of(function.get("name"))
        shown = self._shown(name, at)
        _, changes = self._identity(entry, text_of(entry.get("id")), shown, at)
        inner = self._arguments(function, at)
        if shown != name:
            inner["name"] = shown
        text = inner.get("arguments", function.get("arguments"))
        options = self._answer.options
        if self._active and not text:
            inner["arguments"] = "{}"
            self.note("arguments", at, ".function.arguments", text, "{}")
        elif options.repair_arguments and isinstance(text, str):
            mended = self._answer.mended_arguments(text)
            if mended != text:
                inner["arguments"] = mended
                self.note("arguments", at, ".function.arguments", text, mended)
        if options.manual_tool_parsing:
            call = Call()
            call.shown = shown
            call.parts.append(text_of(inner.get("arguments", text)))
            self._saw(call)
        return changed(entry, changes, function, inner)

    # Both

    def _shown(self, name: str, at: int) -> str:
        """The name of a native call as the client knows it (sections 3.10 and 10)."""
        answer = self._answer
        shown = answer.names.original(name) if answer.renames else name
        if self._active and shown.startswith("functions"):
            shown = answer.names.original(plain_tool_name(shown, answer.offered))
        if shown != name:
            self.note("tool_name", at, ".function.name", name, shown)
        return shown

    def _identity(self, entry: JsonObject, given: str, name: str, at: int) -> tuple[str, JsonObject]:
        """The id of a native call, and which members of its entry change."""
        changes: JsonObject = {}
        final = self._claim(given, name)
        if final != text_of(entry.get("id")):
            changes["id"] = final
            self.note("id", at, ".id", entry.get("id"), final)
        if self._active and not entry.get("type"):
            changes["type"] = "function"
            self.note("stream_shape", at, ".type", entry.get("type"), "function")
        return final, changes

    def _arguments(self, function: JsonObject, at: int) -> JsonObject:
        arguments = function.get("arguments")
        if arguments is None or isinstance(arguments, str) or not self._active:
            return {}
        text = arguments_text(arguments)
        self.note("arguments", at, ".function.arguments", arguments, text)
        return {"arguments": text}

    def _claim(self, given: str, name: str) -> str:
        """The id that the client sees, for one with the name in it that the host knows."""
        answer, ledger = self._answer, self._ledger
        if answer.renames:
            given = answer.names.original_id(given, answer.options.id_prefix)
        if not self._active:
            return given
        if ledger is None:
            ledger = self._ledger = answer.ledger.fork()
        return ledger.claim(given, name)

    def _number(self, call: Call, index: int | None) -> None:
        """The call's place: its own index if that is free, else the next one."""
        if index is None or index in self._used:
            index = self._next
        call.index = index
        self._used.add(index)
        if index >= self._next:
            self._next = index + 1
        if self._assembles:
            self.all.append(call)

    # Markers

    def _saw(self, call: Call) -> None:
        if self._native is None:
            self._native = NativeCalls()
        self._native.saw(call.shown, call)

    def may_repeat(self, name: str) -> bool:
        """May a call of this name, read from markers, turn out to be one that came natively?"""
        return self._native is not None and self._native.has_name(self._answer.names.original(name))

    @property
    def beside(self) -> bool:
        """Are there native calls, so that one read from markers has to be compared with them?"""
        return self._native is not None

    def repeats(self, name: str, arguments: str) -> bool:
        return self._native is not None and self._native.has(self._answer.names.original(name), arguments)

    def open(self, given: str, name: str) -> Call:
        """A call that was read from markers begins."""
        self.present = True
        call = Call()
        self._number(call, None)
        call.shown = self._answer.names.original(name)
        call.id = self._claim(given, call.shown) or f"{call.shown}_{call.index}"
        self.note("markers_parsed", call.index, "", given, call.id)
        return call

    def opened(self, calls: list[WholeCall]) -> ToldCalls:
        """Whole calls that were read from markers: what the client is told of them."""
        given, names, arguments = (list(map(itemgetter(at), calls)) for at in range(3))
        if not self._assembles:
            return self._told(given, names, arguments)
        begun = list(map(self.open, given, names))
        for call, text in zip(begun, arguments, strict=True):
            call.parts.append(text)
        return ToldCalls(begun[0].index, [call.id or "" for call in begun], [call.shown for call in begun], arguments)

    def _told(self, given: Sequence[str], names: Sequence[str], arguments: Sequence[str]) -> ToldCalls:
        """The same where nothing is kept of them but their ids and places."""
        self.present = True
        answer, first = self._answer, self._next
        said = given
        if answer.renames:
            names = list(map(answer.names.original, names))
            said = [answer.names.original_id(each, answer.options.id_prefix) for each in given]
        if self._active:
            self._ledger = self._ledger or answer.ledger.fork()
            ids = self._ledger.claim_all(said, names)
        else:
            # A grammar without ids, and nobody to make them: a call without an id is of no use to a client.
            ids = [each or f"{name}_{at}" for at, (each, name) in enumerate(zip(said, names, strict=True), first)]
        answer.notes.about_calls("markers_parsed", self._choice, first, given, ids)
        self._next = first + len(ids)
        self._used.update(range(first, self._next))
        return ToldCalls(first, ids, names, arguments)
