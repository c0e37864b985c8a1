"""One request and its answer in the provider's own dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, Protocol, runtime_checkable

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Note
from moongate.chat.event_reader import shown_message
from moongate.chat.verdict import Verdict
from moongate.dialects.fronts import FRONTS
from moongate.errors import BadUpstream, GatewayError
from moongate.kimi.answer.judge import Judge
from moongate.kimi.answer.schema_check import checked
from moongate.kimi.native_rules import NativeRules
from moongate.kimi.notes import Notes
from moongate.kimi.request.tool_names import UNCHANGED
from moongate.kimi.request.tools import requires_call
from moongate.native.answer import DeclaredSchemas, NativeAnswer
from moongate.native.call_history import CallHistory
from moongate.native.messages import MessagesApi
from moongate.native.messages_answer import MessagesReader
from moongate.native.responses import ResponsesApi
from moongate.native.responses_answer import ResponsesReader
from moongate.payload import JsonObject

__all__ = ["APIS", "HasNativeRules", "NativeApi", "NativeExchange", "NativeRules", "rules_in"]


@runtime_checkable
class HasNativeRules(Protocol):
    """A transformer whose rules also apply to providers that speak another API than chat completions."""

    @property
    def native_rules(self) -> NativeRules: ...


def rules_in(transformers: Iterable[object]) -> NativeRules | None:
    """What Kimi asks of requests that are not in the middle language, if it is in the chain."""
    return next((each.native_rules for each in transformers if isinstance(each, HasNativeRules)), None)


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


class AnswerReader(Protocol):
    """Tells what the verdict needs to know of an answer in one API. Changes nothing."""

    def declared(self, body: JsonObject) -> DeclaredSchemas: ...

    def reply(self, body: JsonObject, answer: NativeAnswer) -> None: ...

    def event(self, event: JsonObject, answer: NativeAnswer) -> None: ...


def _apis() -> dict[str, NativeApi]:
    return {"messages": MessagesApi(), "responses": ResponsesApi()}


def _readers() -> dict[str, AnswerReader]:
    return {"messages": MessagesReader(), "responses": ResponsesReader()}


APIS: Final = _apis()
READERS: Final = _readers()
_DIALECTS: Final = {front.dialect.name: front.dialect for front in FRONTS}


class NativeExchange(BaseExchange):
    """`request` is the body to send. The answer goes through `whole` or, event by event, through `event`."""

    def __init__(self, front: str, body: JsonObject, chat: JsonObject, rules: NativeRules | None) -> None:
        self.api, self.dialect = APIS[front], _DIALECTS[front]
        self._reader = READERS[front]
        declared = self._reader.declared(body)
        self._calls = None if rules is None else CallHistory(rules.call_ids())
        self._mended = Notes()
        if rules is not None and self._calls is not None:
            body = self.api.request(body, chat, rules, self._calls, self._mended)
        super().__init__(body)
        self._schemas = declared.schemas
        self._answer = NativeAnswer(() if rules is None else rules.markers)
        required = declared.only_calls and requires_call(chat.get("tool_choice"))
        self._judge = Judge(self._mended, self._schemas, UNCHANGED, "", required)
        self.usage: JsonObject | None = None

    @property
    def notes(self) -> Sequence[Note]:
        return self._mended

    @property
    def verdict(self) -> Verdict:
        """What the answer was worth (section 13); until it is over it counts as aborted."""
        return self._judge.verdict()

    def schema_check(self) -> Callable[[], Verdict] | None:
        return partial(checked, self._judge, self._schemas) if self._judge.calls else None

    @property
    def size(self) -> int:
        """The bytes of calls that are judged at the end of the answer."""
        return self._answer.size

    def whole(self, body: JsonObject) -> JsonObject:
        """A whole answer; the same object if nothing changed. Raises BadUpstream if it is an error with status 200."""
        if (failed := self.api.error(body)) is not None:
            error = BadUpstream(shown_message(failed))
            self.fail(error)
            raise error
        self.usage = self.api.usage(body)
        self._reader.reply(body, self._answer)
        self._answer.judge(self._judge)
        return self._noted(body, self.api.reply(body, self._calls))

    def event(self, event: JsonObject) -> JsonObject:
        found = self.api.usage(event)
        if found is not None:
            self.usage = {**(self.usage or {}), **found}
        self._reader.event(event, self._answer)
        if self.api.is_end(event):
            self._answer.judge(self._judge)
        return self._noted(event, self.api.event(event, self._calls))

    def fail(self, error: GatewayError) -> None:
        """The answer broke off, or this came instead of it."""
        self._judge.fail(error)

    def _noted(self, before: JsonObject, after: JsonObject) -> JsonObject:
        if after is not before:
            self._mended.add("id", "choices[0].message.tool_calls")
        return after
