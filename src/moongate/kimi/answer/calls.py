"""The calls of one choice as the client sees them: native ones are repaired here (sections 3 and 11)."""

from __future__ import annotations

from functools import partial
from operator import is_
from typing import Any

from moongate.chat.call_grouping import ARGUMENTS, CallGrouping, body_of, call_index, text_of
from moongate.kimi.answer.call import AnswerCall, changed, lacks_index
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.answer.marker_calls import MarkerCalls
from moongate.kimi.answer.waiting_calls import WaitingCalls
from moongate.payload import JsonObject
from moongate.wire.threads import let_threads_run


class CallWriter(MarkerCalls):
    """All calls of one choice, native ones and those parsed from markers."""

    __slots__ = ("_grouping", "_held", "_repairs", "_seen")

    def __init__(self, answer: AnswerContext, choice: int) -> None:
        super().__init__(answer, choice)
        self._grouping: CallGrouping[AnswerCall] | None = None
        self._held = WaitingCalls()
        self._seen = False  # native deltas came
        self._repairs = answer.repairs_calls  # deltas may change

    # Streams

    def deltas(self, entries: list[Any]) -> list[Any]:
        """The native deltas of one chunk, repaired; the same list if nothing changed."""
        answer = self._answer
        if not self._seen:
            self._seen = True
            # Section 11 gives an index to calls without one, whether ids are repaired or not.
            self._repairs = answer.repairs_calls or (answer.repairs_shape and any(map(lacks_index, entries)))
        if not self._active:
            self.present = True
        if self._grouping is None:
            self._grouping = CallGrouping(partial(AnswerCall, answer.may_go_on if self._active else None))
        route = self._grouping.route
        if not self._repairs and not self._assembles:
            calls = [route(entry) for entry in entries if isinstance(entry, dict)]
            self.emitted += [call for call in calls if call.fresh]
            return entries
        repaired: list[Any] = []
        for entry in entries:
            if isinstance(entry, dict):
                repaired += self._delta(route(entry), entry)
            else:
                repaired.append(entry)
        if not self._repairs or (len(repaired) == len(entries) and all(map(is_, repaired, entries))):
            return entries
        return repaired

    def _delta(self, call: AnswerCall, entry: JsonObject) -> list[JsonObject]:
        """The delta, repaired, behind a call that leaves before it; nothing if its call waits for its name."""
        before = self._release_named(call) if call.fresh and self._held.named else []
        if call.dropped:
            return before
        if call.id is not None:
            repaired = self._later_delta(call, entry)
        elif not self._may_leave(call, entry):
            self._held.add(call, self._may_be_duplicate(call))
            call.hold(entry)
            return before
        elif self._drop_duplicate(call):
            return before
        else:
            repaired = self._first_delta(call, call.released(entry) if call.held else entry)
        if self._answer.options.manual_tool_parsing:
            self._record_native(call)
        return [*before, repaired]

    @property
    def waits_for_name(self) -> bool:
        """Whether a call that has a name waits for more of it: it leaves before any text."""
        return bool(self._held.unsure)

    def release_before_text(self) -> list[JsonObject]:
        """The calls that waited for more of their names, where text follows them."""
        return self._release(list(self._held.unsure))

    def _release_named(self, following: AnswerCall | None) -> list[JsonObject]:
        """The calls that waited for more of their names, where another call (`following`) begins or the choice ends."""
        named = [call for call in self._held.named if call is not following and not self._is_being_read(call)]
        return self._release(named)

    def _release(self, named: list[AnswerCall]) -> list[JsonObject]:
        left: list[JsonObject] = []
        for call in named:
            if not self._drop_duplicate(call):
                left.append(self._first_delta(call, call.released({})))
                if self._answer.options.manual_tool_parsing:
                    self._record_native(call)
        return left

    def _may_leave(self, call: AnswerCall, entry: JsonObject) -> bool:
        """Whether the client may see the call now. One that may have come as markers waits for its arguments."""
        whole = call.name_is_whole and not self._is_piece(call, entry)
        waits = self._active and not (whole or (self.names_are_whole and call.name))
        return not waits and (not self._may_be_duplicate(call) or (not self._is_being_read(call) and call.is_whole()))

    def _may_be_duplicate(self, call: AnswerCall) -> bool:
        """Whether a call of this name came as markers before."""
        return self._marked is not None and self._marked.has_name(self._original_name(call.name))

    def _is_being_read(self, call: AnswerCall) -> bool:
        """Whether a call of this name in the text is not complete yet, so that they cannot be compared."""
        return self._reading != "" and self._reading == self._original_name(call.name)

    def _drop_duplicate(self, call: AnswerCall) -> bool:
        """Drop the call if it came as markers before (section 5.7)."""
        if self._marked is None or not self._marked.take(self._original_name(call.name), call.arguments):
            return False
        call.dropped = True
        self._held.remove(call)
        where = f"choices[{self._choice}].message.tool_calls"
        self._answer.note("markers_parsed", where, call.original_id, "the same call came as markers")
        return True

    def _first_delta(self, call: AnswerCall, entry: JsonObject) -> JsonObject:
        """The delta that begins the call for the client."""
        self.present = True
        if call.held:
            self._held.remove(call)
        call.kind, body = body_of(entry)
        # Where a call waits, its index may never leave: calls behind it are numbered without a gap.
        self._assign_index(call, None if self._held.all or call.held else call_index(entry))
        call.client_name = self._client_name(call.name, call.index)
        call.id, changes = self._identity(entry, call.original_id, call.client_name, call.index)
        if call.index != call_index(entry):
            changes["index"] = call.index
            self.note("stream_shape", call.index, ".index", entry.get("index"), call.index)
        if call.first_piece:
            self.note("stream_shape", call.index, ".function.name", call.first_piece, call.name)
        body_changes = self._arguments_as_text(call.kind, body, call.index)
        if call.client_name != (body.get("name") or ""):
            body_changes["name"] = call.client_name
        return changed(entry, changes, body_changes)

    def _later_delta(self, call: AnswerCall, entry: JsonObject) -> JsonObject:
        """A delta of a call that has begun for the client: no id, and no second name."""
        (kind, body), active = body_of(entry), self._active
        name = body.get("name")
        extra_name = bool(name) and (self._answer.renames or (active and name != call.client_name))
        extra_id = active and bool(entry.get("id"))
        body_changes = self._arguments_as_text(kind, body, call.index)
        if not (extra_id or extra_name or body_changes or call.index != call_index(entry)):
            return entry
        if not call.noted:
            call.noted = True
            self.note("stream_shape", call.index, "", entry.get("id") or name, None)
        repaired = {key: value for key, value in entry.items() if value or key not in ("id", "type")}
        if active:
            repaired.pop("id", None)
        repaired["index"] = call.index
        if body:
            unnamed = active or extra_name or not name
            kept = {key: value for key, value in body.items() if key != "name" or not unnamed}
            repaired[kind] = {**kept, **body_changes}
        return repaired

    def unfinished(self) -> list[JsonObject]:
        """The deltas that are missing when the choice ends. A call whose name never came is dropped (section 3.9)."""
        if self._grouping is None:
            return []
        missing = self._release_named(None)
        if not self._active:
            return missing
        for call in self._held.all:
            call.dropped = True  # the rest of it may still come, behind the finish reason
            self.drop_nameless(call.original_id)
        self._held.clear()
        for call in self._grouping.slots:
            if call.id is not None and not call.parts and call.kind == "function":
                call.parts.append("{}")
                self.note("arguments", call.index, ".function.arguments", "", "{}")
                missing.append({"index": call.index, "function": {"arguments": "{}"}})
        return missing

    # Whole answers

    def whole(self, entries: list[Any]) -> list[Any]:
        """The native calls of a whole answer, repaired; the same list if nothing changed."""
        self.present = bool(entries)
        self._next_index = len(entries)
        answer = self._answer
        if not answer.repairs_calls and not answer.options.repair_arguments:
            return entries
        repaired: list[Any] = []
        same = True
        for at, entry in enumerate(entries):
            let_threads_run()
            call = entry
            if isinstance(entry, dict):
                call = self._well_formed_call(entry, at) if answer.only_ids else None
                if call is None:
                    call = self._whole_call(entry, len(repaired))
                same = same and call is entry
            if call is not None:
                repaired.append(call)
        self.present = bool(repaired)
        self._next_index = len(repaired)
        return entries if same else repaired

    def _well_formed_call(self, entry: JsonObject, at: int) -> JsonObject | None:
        """A call in which only the id can be wrong, repaired; None if it is not such a call."""
        function = entry.get("function")
        if type(function) is not dict or not entry.get("type"):
            return None
        name, arguments = function.get("name"), function.get("arguments")
        if type(name) is not str or type(arguments) is not str or not arguments or not name:
            return None
        if name.startswith("functions"):
            return None
        original_id = entry.get("id")
        final_id = self._ids().claim(original_id if type(original_id) is str else "", name)
        if final_id == original_id:
            return entry
        self._answer.notes.add_for_call("id", self._choice, at, ".id", original_id, final_id)
        return {**entry, "id": final_id}

    def _whole_call(self, entry: JsonObject, at: int) -> JsonObject | None:
        """The call, repaired; None if it has no name."""
        kind, body = body_of(entry)
        name = text_of(body.get("name"))
        if not name and self._active:
            self.drop_nameless(entry.get("id"))
            return None
        client_name = self._client_name(name, at)
        _, changes = self._identity(entry, text_of(entry.get("id")), client_name, at)
        body_changes = self._arguments_as_text(kind, body, at)
        if client_name != name:
            body_changes["name"] = client_name
        text = body_changes.get("arguments", body.get(ARGUMENTS[kind]))
        repaired = self._repaired_arguments(text) if kind == "function" else text
        if repaired != text:
            body_changes["arguments"] = repaired
            self.note("arguments", at, ".function.arguments", text, repaired)
        if self._answer.options.manual_tool_parsing:
            call = AnswerCall()
            call.client_name = client_name
            call.parts.append(text_of(repaired))
            self._record_native(call)
        return changed(entry, changes, body_changes)
