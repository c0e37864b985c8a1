"""How far a streamed answer has come: is it complete if it ends here, how much was said, how many calls are there?"""

from __future__ import annotations

from typing import Any, Final

from moongate.payload import JsonObject

CALL_CHARS: Final = 64  # a call counts as so many characters beside its arguments
MAX_CALLS: Final = 16 * 1024  # of one stream, or choices: what is kept of each takes up to six kilobytes


class Progress:
    """The choices of one stream that began and that finished."""

    __slots__ = ("_finished", "_ids", "began", "calls", "size")

    def __init__(self, size: int = 0) -> None:
        self.began = False  # a chunk was seen
        self.size = size  # characters of text and calls
        self.calls = 0
        self._finished: dict[int, bool] = {}
        self._ids: dict[tuple[int, int | None], str] = {}  # of the last call by choice and index

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
        """Count the calls that begin here. Without an index and an id, a name begins one."""
        for entry in entries:
            if not isinstance(entry, dict):
                continue
            index, given = entry.get("index"), entry.get("id")
            place = choice, index if type(index) is int else None
            known, call_id = self._ids.get(place), given if isinstance(given, str) else ""
            if known is None or (call_id != known if call_id else place[1] is None and _has_name(entry)):
                self.calls += 1
                if self.calls <= MAX_CALLS:
                    self._ids[place] = call_id or known or ""

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


def _has_name(entry: JsonObject) -> bool:
    function = entry.get("function")
    return isinstance(function, dict) and bool(function.get("name"))


def choice_index(choice: JsonObject, at: int) -> int:
    """The number of a choice; where the provider left it out, its place."""
    index = choice.get("index")
    return index if type(index) is int else at
