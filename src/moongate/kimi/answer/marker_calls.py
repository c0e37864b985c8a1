"""Calls that were parsed from markers, as the client sees them (sections 5.7 and 5.10)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from operator import itemgetter

from moongate.kimi.answer.call import AnswerCall, EmittedCalls
from moongate.kimi.answer.call_rules import CallRules
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.answer.seen_calls import SeenCalls
from moongate.kimi.markers.pieces import WholeCall
from moongate.wire.threads import let_threads_run


class MarkerCalls(CallRules):
    """Names and numbers the calls of one choice that the parser found, and finds those that came natively as well."""

    __slots__ = ("_marked", "_native", "_reading")

    def __init__(self, answer: AnswerContext, choice: int) -> None:
        super().__init__(answer, choice)
        self._native: SeenCalls | None = None  # the native calls so far
        self._marked: SeenCalls | None = None  # the calls read from markers so far
        self._reading = ""  # the client's name of the tool whose call has begun for the client and is being read

    def _record_native(self, call: AnswerCall) -> None:
        if self._native is None:
            self._native = SeenCalls()
        self._native.record(call.client_name, call)

    @property
    def has_native(self) -> bool:
        """Whether there are native calls, with which parsed ones have to be compared."""
        return self._native is not None

    def may_repeat(self, name: str) -> bool:
        """Whether a parsed call of this name may turn out to be one that came natively."""
        return self._native is not None and self._native.has_name(self._original_name(name))

    def repeats(self, name: str, arguments: str) -> bool:
        """Whether this parsed call came natively as well."""
        return self._native is not None and self._native.take(self._original_name(name), arguments)

    def may_yet_repeat(self, name: str) -> bool:
        """Whether the native call of this name that came last is not complete yet."""
        return self._native is not None and self._native.grows(self._original_name(name))

    def _marked_calls(self) -> SeenCalls:
        if self._marked is None:
            self._marked = SeenCalls()
        return self._marked

    def begin(self, original_id: str, name: str) -> AnswerCall:
        """A parsed call begins whose arguments are still being read."""
        call = self.open(original_id, name)
        self._reading = call.client_name
        return call

    def closed(self, call: AnswerCall) -> None:
        """A parsed call that began is complete."""
        self._reading = ""
        self._marked_calls().record(call.client_name, call)

    def open(self, original_id: str, name: str) -> AnswerCall:
        """A parsed call begins."""
        let_threads_run()
        self.present = True
        call = AnswerCall()
        self._assign_index(call, None)
        call.client_name = self._client_name(name, call.index)
        claim = self._claim if original_id or self._active else self._id_with_repair_off
        call.id = claim(original_id, call.client_name)
        self.note("markers_parsed", call.index, "", original_id, call.id)
        self._marked_calls().record(call.client_name, call)
        return call

    def _id_with_repair_off(self, original_id: str, name: str) -> str:
        """The id itself; where the grammar has none a new one: a call without an id is useless to a client."""
        if not original_id:
            return self._ids().free_id(name)
        self._ids().keep((original_id,))
        return original_id

    def emit_whole(self, calls: list[WholeCall]) -> EmittedCalls:
        """Whole parsed calls, as the client sees them."""
        original_ids, names, arguments = (list(map(itemgetter(at), calls)) for at in range(3))
        if not self._assembles:
            return self._emit_columns(original_ids, names, arguments)
        opened = list(map(self.open, original_ids, names))
        for call, text in zip(opened, arguments, strict=True):
            call.parts.append(text)
        ids, client_names = [call.id or "" for call in opened], [call.client_name for call in opened]
        return EmittedCalls(opened[0].index, ids, client_names, arguments)

    def _emit_columns(
        self, original_ids: Sequence[str], names: Sequence[str], arguments: Sequence[str]
    ) -> EmittedCalls:
        """`emit_whole` in a few steps, where nothing is kept of the calls but their ids and indexes."""
        self.present = True
        answer, first = self._answer, self._next_index
        client_ids = original_ids
        if answer.renames:
            client_ids = [answer.names.original_id(each, answer.options.id_prefix) for each in original_ids]
        if answer.renames or any(name.startswith("functions") for name in names):
            names = list(map(self._client_name, names, count(first)))
        if self._active:
            ids = self._ids().claim_all(client_ids, names)
        else:
            ids = list(map(self._id_with_repair_off, client_ids, names))
        self._marked_calls().record_all(names, arguments)
        answer.notes.add_for_calls("markers_parsed", self._choice, first, original_ids, ids)
        self._next_index = first + len(ids)
        self._used_indexes.update(range(first, self._next_index))
        calls = EmittedCalls(first, ids, names, arguments)
        self.emitted.append(calls)
        return calls
