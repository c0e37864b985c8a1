"""Chunks of a stream → the completion that they make up."""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.call_grouping import ARGUMENTS, CallGrouping, CallSlot, body_of
from moongate.chat.progress import choice_index
from moongate.payload import JsonObject

_TEXT_MEMBERS: Final = ("content", "reasoning_content", "reasoning", "refusal")
_CHUNK_MEMBERS: Final = ("choices", "object", "usage")
_CHOICE_MEMBERS: Final = ("index", "delta", "message", "finish_reason")
_CALL_MEMBERS: Final = ("index", "id", "function", "custom")


class Accumulator:
    """One streamed answer. Feed it payloads; `completion()` is the answer so far.

    Without `late_ids` a call begins when its name is known: calls are in that order, and an id that comes later does
    not count.
    """

    __slots__ = ("_choices", "_late_ids", "_top", "_usage")

    def __init__(self, *, late_ids: bool = True) -> None:
        self._late_ids = late_ids
        self._top: JsonObject = {}
        self._choices: dict[int, _AccumulatedChoice] = {}
        self._usage: Any = None

    def feed(self, payload: JsonObject) -> None:
        _keep(self._top, payload, _CHUNK_MEMBERS)
        if payload.get("usage") is not None:
            self._usage = payload["usage"]
        choices = payload.get("choices")
        for at, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, dict):
                index = choice_index(choice, at)
                if index not in self._choices:
                    self._choices[index] = _AccumulatedChoice(index, self._late_ids)
                self._choices[index].feed(choice)

    @property
    def has_pieced_names(self) -> bool:
        """Whether a call got a second name before its arguments: only the rules for streams know what that means."""
        return any(choice.has_pieced_names for choice in self._choices.values())

    def completion(self) -> JsonObject:
        """The whole answer: choices by their index, each with its message."""
        top = dict(self._top)
        body: JsonObject = {"id": top.pop("id", None), "object": "chat.completion", **top}
        body["choices"] = [self._choices[index].whole() for index in sorted(self._choices)]
        if self._usage is not None:
            body["usage"] = self._usage
        return body


class _AccumulatedCall(CallSlot):
    __slots__ = ("early", "kind", "members", "named", "pieced")

    def __init__(self) -> None:
        super().__init__()
        self.members: JsonObject = {}
        self.early = ""  # the id, if it did not come behind the name
        self.kind = "function"
        self.named = False
        self.pieced = False  # another name came before the arguments

    def take_name(self, name: str) -> None:
        self.pieced = self.pieced or bool(self.name and name != self.name and not self.parts)
        super().take_name(name)

    def whole(self, late_ids: bool) -> JsonObject:
        kind = self.kind
        body = {**self.members.get(kind, {}), "name": self.name, ARGUMENTS[kind]: joined(self.parts)}
        rest = {name: value for name, value in self.members.items() if name != kind}
        return {"id": self.original_id if late_ids else self.early, "type": kind, **rest, kind: body}


class _AccumulatedChoice:
    __slots__ = ("_calls", "_late_ids", "_members", "_message", "_named", "_reason", "_texts", "index")

    def __init__(self, index: int, late_ids: bool) -> None:
        self.index = index
        self._late_ids = late_ids
        self._texts: dict[str, list[str]] = {}
        self._message: JsonObject = {}
        self._members: JsonObject = {}
        self._reason: Any = None
        self._calls: CallGrouping[_AccumulatedCall] = CallGrouping(_AccumulatedCall)
        self._named: list[_AccumulatedCall] = []

    def feed(self, choice: JsonObject) -> None:
        _keep(self._members, choice, _CHOICE_MEMBERS)
        if choice.get("finish_reason"):
            self._reason = self._reason or choice["finish_reason"]
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        for name in _TEXT_MEMBERS:
            text = delta.get(name)
            if isinstance(text, str):
                self._texts.setdefault(name, []).append(text)
        calls = delta.get("tool_calls")
        for entry in calls if isinstance(calls, list) else ():
            if isinstance(entry, dict):
                self._call(entry)
        _keep(self._message, delta, (*_TEXT_MEMBERS, "tool_calls"))

    def _call(self, entry: JsonObject) -> None:
        call = self._calls.route(entry)
        if not call.named:
            call.early = call.original_id
            if call.name:
                call.named = True
                self._named.append(call)
        _keep(call.members, entry, _CALL_MEMBERS if entry.get("type") else (*_CALL_MEMBERS, "type"))
        kind, body = body_of(entry)
        if body:
            call.kind = kind
            _keep(call.members.setdefault(kind, {}), body, ("name", ARGUMENTS[kind]))

    @property
    def has_pieced_names(self) -> bool:
        return any(call.pieced for call in self._calls.slots)

    def whole(self) -> JsonObject:
        rest = dict(self._message)
        message: JsonObject = {"role": rest.pop("role", None) or "assistant", "content": None}
        for name, parts in self._texts.items():
            if text := joined(parts):
                message[name] = text
        message.update(rest)
        if self._calls.slots:
            slots = self._calls.slots
            calls = slots if self._late_ids else [*self._named, *(call for call in slots if not call.named)]
            message["tool_calls"] = [call.whole(self._late_ids) for call in calls]
        return {"index": self.index, "message": message, **self._members, "finish_reason": self._reason}


def joined(parts: list[str]) -> str:
    """The text of several deltas. A character beyond U+FFFF may have come in two halves."""
    text = "".join(parts)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _keep(into: JsonObject, found: JsonObject, left_out: tuple[str, ...]) -> None:
    """Add members to those known so far: lists are extended, objects merged, anything else replaced."""
    waiting = [(into, found)]  # a stack of our own, since the nesting has no limit
    while waiting:
        into, found = waiting.pop()
        for name, value in found.items():
            if value is None or name in left_out:
                continue
            known = into.get(name)
            if isinstance(known, list) and isinstance(value, list):
                known.extend(value)
            elif isinstance(known, dict) and isinstance(value, dict):
                waiting.append((known, value))
            else:
                into[name] = _own(value)
        left_out = ()


def _own(value: Any) -> Any:
    """A copy of what may be extended here: the provider's objects are never changed."""
    if not isinstance(value, dict):
        return list(value) if isinstance(value, list) else value
    top = dict(value)
    waiting = [top]
    while waiting:
        owned = waiting.pop()
        for name, each in owned.items():
            if isinstance(each, dict):
                owned[name] = inner = dict(each)
                waiting.append(inner)
            elif isinstance(each, list):
                owned[name] = list(each)
    return top
