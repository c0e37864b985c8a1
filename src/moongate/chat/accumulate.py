"""Chunks of a stream → the one completion that they spell."""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.grouping import CallSlot, Grouping
from moongate.chat.progress import choice_index
from moongate.payload import JsonObject

_ADDED_UP: Final = ("content", "reasoning_content", "reasoning", "refusal")
_OF_THE_CHUNK: Final = ("choices", "object", "usage")
_OF_THE_CHOICE: Final = ("index", "delta", "message", "finish_reason")
_OF_THE_CALL: Final = ("index", "id", "function")


class Accumulator:
    """One streamed answer. Feed it payloads; `completion()` is the answer so far.

    Without `late_ids` calls are told as to a reader who hears of each when its name is known: in that order, and with
    the id that came by then.
    """

    __slots__ = ("_choices", "_late_ids", "_top", "_usage")

    def __init__(self, *, late_ids: bool = True) -> None:
        self._late_ids = late_ids
        self._top: JsonObject = {}
        self._choices: dict[int, _Choice] = {}
        self._usage: Any = None

    def feed(self, payload: JsonObject) -> None:
        _keep(self._top, payload, _OF_THE_CHUNK)
        if payload.get("usage") is not None:
            self._usage = payload["usage"]
        choices = payload.get("choices")
        for at, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, dict):
                index = choice_index(choice, at)
                if index not in self._choices:
                    self._choices[index] = _Choice(index, self._late_ids)
                self._choices[index].feed(choice)

    def completion(self) -> JsonObject:
        """The whole answer: choices by their index, each with its message."""
        top = dict(self._top)
        body: JsonObject = {"id": top.pop("id", None), "object": "chat.completion", **top}
        body["choices"] = [self._choices[index].whole() for index in sorted(self._choices)]
        if self._usage is not None:
            body["usage"] = self._usage
        return body


class _Call(CallSlot):
    __slots__ = ("early", "members", "named")

    def __init__(self) -> None:
        super().__init__()
        self.members: JsonObject = {}
        self.early = ""  # the id, if it did not come behind the name
        self.named = False

    def whole(self, late_ids: bool) -> JsonObject:
        function = {**self.members.get("function", {}), "name": self.name, "arguments": joined(self.parts)}
        rest = {name: value for name, value in self.members.items() if name != "function"}
        return {"id": self.given if late_ids else self.early, "type": "function", **rest, "function": function}


class _Choice:
    __slots__ = ("_calls", "_late_ids", "_members", "_message", "_named", "_reason", "_texts", "index")

    def __init__(self, index: int, late_ids: bool) -> None:
        self.index = index
        self._late_ids = late_ids
        self._texts: dict[str, list[str]] = {}
        self._message: JsonObject = {}
        self._members: JsonObject = {}
        self._reason: Any = None
        self._calls: Grouping[_Call] = Grouping(_Call)
        self._named: list[_Call] = []

    def feed(self, choice: JsonObject) -> None:
        _keep(self._members, choice, _OF_THE_CHOICE)
        if choice.get("finish_reason"):
            self._reason = self._reason or choice["finish_reason"]
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        for name in _ADDED_UP:
            text = delta.get(name)
            if isinstance(text, str):
                self._texts.setdefault(name, []).append(text)
        calls = delta.get("tool_calls")
        for entry in calls if isinstance(calls, list) else ():
            if isinstance(entry, dict):
                self._call(entry)
        _keep(self._message, delta, (*_ADDED_UP, "tool_calls"))

    def _call(self, entry: JsonObject) -> None:
        call = self._calls.route(entry)
        if not call.named:
            call.early = call.given
            if call.name:
                call.named = True
                self._named.append(call)
        _keep(call.members, entry, _OF_THE_CALL)
        function = entry.get("function")
        if isinstance(function, dict):
            _keep(call.members.setdefault("function", {}), function, ("name", "arguments"))

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
    """Take over what was said: lists grow, objects are merged, of anything else the last word counts."""
    waiting = [(into, found)]  # a stack of our own: it may be nested as deep as it likes
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
    """A copy of what may grow here: the provider's objects are not ours to change."""
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
