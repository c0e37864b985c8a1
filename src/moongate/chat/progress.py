"""How far a streamed answer has come: is it complete if it ends here, how much was said, how many calls are there?"""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.call_grouping import ARGUMENTS, arguments_text, body_of, call_index, text_of
from moongate.payload import JsonObject

CALL_CHARS: Final = 64  # a call counts as so many characters beside its arguments
MAX_CALLS: Final = 16 * 1024  # of one stream, or choices: what is kept of each takes up to six kilobytes


class Progress:
    """The choices of one stream that began and that finished."""

    __slots__ = ("_finished", "_last", "began", "calls", "size")

    def __init__(self, size: int = 0) -> None:
        self.began = False  # a chunk was seen
        self.size = size  # characters of text and calls
        self.calls = 0
        self._finished: dict[int, bool] = {}
        self._last: dict[tuple[int, int | None], _BegunCall] = {}  # by choice and index; None: of all of the choice

    def saw(self, payload: JsonObject) -> None:
        self.began = True
        choices = payload.get("choices")
        if not isinstance(choices, list):
            return
        for at, choice in enumerate(choices):
            if isinstance(choice, dict):
                index = choice_index(choice, at)
                if choice.get("finish_reason"):
                    self._finished[index] = True
                elif index not in self._finished:
                    self._finished[index] = False
                delta = choice.get("delta")
                if isinstance(delta, dict):
                    self.size += _size(delta)
                    if isinstance(entries := delta.get("tool_calls"), list):
                        self._count(index, entries)

    def _count(self, choice: int, entries: list[Any]) -> None:
        """Count the calls that begin here: those that `CallGrouping` tells apart, or some more."""
        for entry in entries:
            if not isinstance(entry, dict):
                continue
            at = choice, call_index(entry)
            last = self._last.get(at)
            if last is None or last.is_before(entry):
                last = _BegunCall()
                self.calls += 1
            if self.calls <= MAX_CALLS:
                last.take(entry)
                self._last[at] = self._last[choice, None] = last

    @property
    def complete(self) -> bool:
        """Did every choice finish, and was there one?"""
        return bool(self._finished) and all(self._finished.values())

    def exceeds(self, size: int) -> bool:
        """Was more said than `size`, or in too many calls or choices? What a stream says is kept in part."""
        return self.size > size or self.calls > MAX_CALLS or len(self._finished) > MAX_CALLS


def _size(delta: JsonObject) -> int:
    """Characters of all texts, and of the calls: those of a wrong shape count as calls without arguments."""
    size = 0
    for value in delta.values():
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, list):
            size += CALL_CHARS * len(value) + sum(map(_arguments_size, value))
    return size


def _arguments_size(entry: Any) -> int:
    function = entry.get("function") if isinstance(entry, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return len(arguments) if isinstance(arguments, str) else 0


class _BegunCall:
    """What is known of a call that goes on, or ends when another begins."""

    __slots__ = ("_arguments", "_call_id", "_name")

    def __init__(self) -> None:
        self._call_id = ""
        self._name = ""
        self._arguments = ""  # the last piece of them

    def is_before(self, entry: JsonObject) -> bool:
        """Does another call begin with this delta? Without ids: another name, or the same after whole arguments."""
        call_id, name = text_of(entry.get("id")), text_of(body_of(entry)[1].get("name"))
        if call_id and self._call_id:
            return call_id != self._call_id
        if not (name and self._name and self._arguments):
            return False
        return name != self._name or self._arguments.rstrip().endswith("}")

    def take(self, entry: JsonObject) -> None:
        kind, body = body_of(entry)
        self._call_id = self._call_id or text_of(entry.get("id"))
        self._name = text_of(body.get("name")) or self._name
        self._arguments = arguments_text(body.get(ARGUMENTS[kind])) or self._arguments


def choice_index(choice: JsonObject, at: int) -> int:
    """The number of a choice; where the provider left it out, its place."""
    index = choice.get("index")
    return index if type(index) is int else at
