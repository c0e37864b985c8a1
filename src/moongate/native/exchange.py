"""One request and its answer in the provider's own dialect."""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Note
from moongate.chat.event_reader import shown_message
from moongate.dialects import FRONTS
from moongate.errors import BadUpstream
from moongate.kimi.native_rules import NativeRules
from moongate.kimi.notes import Notes
from moongate.native.call_history import CallHistory
from moongate.native.messages import MessagesApi
from moongate.native.responses import ResponsesApi
from moongate.payload import JsonObject

__all__ = ["APIS", "HasNativeRules", "NativeApi", "NativeExchange", "NativeRules"]


@runtime_checkable
class HasNativeRules(Protocol):
    """A transformer whose rules also apply to providers that speak another API than chat completions."""

    @property
    def native_rules(self) -> NativeRules: ...


class NativeApi(Protocol):
    """Applies Kimi's rules to one API. Nothing is changed in place; what stays the same is the same object."""

    def request(
        self, body: JsonObject, chat: JsonObject, rules: NativeRules, calls: CallHistory, notes: Notes
    ) -> JsonObject: ...

    def reply(self, body: JsonObject, calls: CallHistory | None) -> JsonObject: ...

    def event(self, event: JsonObject, calls: CallHistory | None) -> JsonObject: ...

    def is_end(self, event: JsonObject) -> bool: ...

    def error(self, event: JsonObject) -> str | None:
        """What went wrong, if this event says so."""

    def usage(self, body: JsonObject) -> JsonObject | None:
        """The token usage in an answer or an event, with the names of chat completions; None: there is none."""


def _apis() -> dict[str, NativeApi]:
    return {"messages": MessagesApi(), "responses": ResponsesApi()}


APIS: Final = _apis()
_DIALECTS: Final = {front.dialect.name: front.dialect for front in FRONTS}


class NativeExchange(BaseExchange):
    """`request` is the body to send. The answer goes through `whole` or, event by event, through `event`."""

    def __init__(self, front: str, body: JsonObject, chat: JsonObject, rules: NativeRules | None) -> None:
        self.api, self.dialect = APIS[front], _DIALECTS[front]
        self._calls = None if rules is None else CallHistory(rules.call_ids())
        self._mended = Notes()
        if rules is not None and self._calls is not None:
            body = self.api.request(body, chat, rules, self._calls, self._mended)
        super().__init__(body)
        self._notes = list(self._mended)
        self.usage: JsonObject | None = None

    def whole(self, body: JsonObject) -> JsonObject:
        """A whole answer; the same object if nothing changed. Raises BadUpstream if it is an error with status 200."""
        if (failed := self.api.error(body)) is not None:
            raise BadUpstream(shown_message(failed))
        self.usage = self.api.usage(body)
        return self._noted(body, self.api.reply(body, self._calls))

    def event(self, event: JsonObject) -> JsonObject:
        found = self.api.usage(event)
        if found is not None:
            self.usage = {**(self.usage or {}), **found}
        return self._noted(event, self.api.event(event, self._calls))

    def _noted(self, before: JsonObject, after: JsonObject) -> JsonObject:
        if after is not before:
            self._notes.append(Note("id", "choices[0].message.tool_calls"))
        return after
