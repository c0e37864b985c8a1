"""How far a streamed answer has come: is it complete if it ends here?"""

from __future__ import annotations

from moongate.payload import JsonObject


class Progress:
    """The choices of one stream that began and that finished."""

    __slots__ = ("_finished", "began")

    def __init__(self) -> None:
        self.began = False  # a chunk was seen
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

    @property
    def complete(self) -> bool:
        """Did every choice finish, and was there one?"""
        return bool(self._finished) and all(self._finished.values())


def choice_index(choice: JsonObject, at: int) -> int:
    """The number of a choice; where the provider left it out, its place."""
    index = choice.get("index")
    return index if type(index) is int else at
