"""How far a streamed answer has come: is it complete if it ends here, and how much was said?"""

from __future__ import annotations

from typing import Any, Final

from moongate.payload import JsonObject

CALL_CHARS: Final = 64  # a call counts as so many characters beside its arguments


class Progress:
    """The choices of one stream that began and that finished."""

    __slots__ = ("_finished", "began", "size")

    def __init__(self, size: int = 0) -> None:
        self.began = False  # a chunk was seen
        self.size = size  # characters of text and calls
        self._finished: dict[int, bool] = {}

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

    @property
    def complete(self) -> bool:
        """Did every choice finish, and was there one?"""
        return bool(self._finished) and all(self._finished.values())


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


def choice_index(choice: JsonObject, at: int) -> int:
    """The number of a choice; where the provider left it out, its place."""
    index = choice.get("index")
    return index if type(index) is int else at
