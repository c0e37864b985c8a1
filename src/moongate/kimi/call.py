"""One call of an answer: what came of it, and what the client sees of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from moongate.chat.grouping import CallSlot, call_index, function_of
from moongate.payload import JsonObject

ToldCall = tuple[int, str, str, str]  # a whole call as the client sees it: index, id, name, arguments


@dataclass(slots=True)
class ToldCalls:
    """Whole calls as the client sees them, one after the other. In columns, so that many are told in a few steps."""

    first: int  # the index of the first one
    ids: Sequence[str]
    names: Sequence[str]
    arguments: Sequence[str]

    def __iter__(self) -> Iterator[ToldCall]:
        return zip(count(self.first), self.ids, self.names, self.arguments)


class Call(CallSlot):
    """One call. What came is in `given`, `name` and `parts`; what the client sees is in the rest."""

    __slots__ = ("held", "id", "index", "noted", "shown")

    def __init__(self) -> None:
        super().__init__()
        self.index = 0
        self.id: str | None = None  # None: the client does not know of it yet
        self.shown = ""
        self.held: JsonObject = {}  # what waits for the name
        self.noted = False  # that later deltas are mended

    def told(self) -> JsonObject:
        """The whole call."""
        return call_object(self.id or self.given, self.shown or self.name, self.arguments)

    def hold(self, entry: JsonObject) -> None:
        """A delta waits with those before it, as one. The arguments wait in `parts`."""
        said = {key: value for key, value in function_of(entry).items() if value is not None}
        self.held = {
            **self.held,
            **{key: value for key, value in entry.items() if value is not None},
            "function": {**function_of(self.held), **said},
        }

    def released(self, entry: JsonObject) -> JsonObject:
        """The delta that tells of a call which waited: all that waited, and this one."""
        self.hold(entry)
        self.held["function"]["arguments"] = self.arguments
        return {**self.held, "id": self.given} if self.given else self.held


def call_object(id_: str, name: str, arguments: str) -> JsonObject:
    """A call as it stands in a message."""
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def lacks_index(entry: Any) -> bool:
    """Is it a delta that does not say which call it belongs to?"""
    return isinstance(entry, dict) and call_index(entry) is None


def changed(entry: JsonObject, changes: JsonObject, function: JsonObject, inner: JsonObject) -> JsonObject:
    """The entry with some members of itself and of its function changed; itself if none is."""
    if inner:
        changes["function"] = {**function, **inner}
    return {**entry, **changes} if changes else entry
