"""One call of an answer: what the provider sent, and what the client sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal

from moongate.chat.call_grouping import ARGUMENTS, CallSlot, body_of, call_index
from moongate.payload import JsonObject, object_of

_MOST_LOOKS: Final = 16

EmittedCall = tuple[int, str, str, str]  # a whole call as the client sees it: index, id, name, arguments


@dataclass(slots=True)
class EmittedCalls:
    """Whole calls as the client sees them, in order. In columns, so that many are written in a few steps."""

    first: int  # the index of the first one
    ids: Sequence[str]
    names: Sequence[str]
    arguments: Sequence[str]

    def __iter__(self) -> Iterator[EmittedCall]:
        return zip(count(self.first), self.ids, self.names, self.arguments)


class AnswerCall(CallSlot):
    """One call. `original_id`, `name` and `parts` are what the provider sent; the rest is what the client sees."""

    __slots__ = (
        *("_looks", "_may_go_on", "client_name", "dropped", "first_piece"),
        *("held", "id", "index", "kind", "noted"),
    )

    def __init__(self, may_go_on: Callable[[str], bool] | None = None) -> None:
        super().__init__()
        self._may_go_on = may_go_on  # whether a name may be the beginning of a longer one; None: no name is
        self._looks = 0
        self.index = 0
        self.kind: Literal["function", "custom"] = "function"
        self.id: str | None = None  # None: the client has not seen the call yet
        self.client_name = ""  # the client's name of the tool
        self.first_piece = ""  # of a name that came in several
        self.held: JsonObject = {}  # deltas that are held back until the name is complete, merged
        self.dropped = False  # it came as markers before: the client does not see it
        self.noted = False  # a note says that later deltas are repaired

    def take_name(self, name: str) -> None:
        """A name may come in pieces (section 3.9). The same name once more is none of them."""
        if not self.name:
            self.name = name
        elif self.id is None and self._may_go_on is not None:
            joined = self.name + name
            if name != self.name or (self._may_go_on(name) and self._may_go_on(joined[:-1])):
                self.first_piece = self.first_piece or self.name
                self.name = joined

    def is_whole(self) -> bool:
        """Whether the arguments are a JSON object. False also if it was asked too often: each time parses them."""
        if not self.parts or self._looks == _MOST_LOOKS or not self.parts[-1].rstrip().endswith("}"):
            return False
        self._looks += 1
        return object_of(self.arguments.encode("utf-8", "surrogatepass")) is not None

    @property
    def name_is_whole(self) -> bool:
        """Whether the call may leave: it has a name, and arguments came or nothing longer begins with that name."""
        return self.name != "" and (bool(self.parts) or self._may_go_on is None or not self._may_go_on(self.name))

    def rendered(self) -> JsonObject:
        """The whole call."""
        final_id, name = self.id or self.original_id, self.client_name or self.name
        if self.kind == "custom":
            return {"id": final_id, "type": "custom", "custom": {"name": name, "input": self.arguments}}
        return call_object(final_id, name, self.arguments)

    def hold(self, entry: JsonObject) -> None:
        """Hold a delta back, merged with those before it. The arguments are in `parts`."""
        self.kind, body = body_of(entry) if "function" in entry or "custom" in entry else (self.kind, {})
        members = {key: value for key, value in body.items() if value is not None}
        self.held = {
            **self.held,
            **{key: value for key, value in entry.items() if value is not None and key not in ARGUMENTS},
            self.kind: {**self.held.get(self.kind, {}), **members},
        }

    def released(self, entry: JsonObject) -> JsonObject:
        """The first delta of a call that was held back: everything held back, and this one."""
        self.hold(entry)
        self.held[self.kind][ARGUMENTS[self.kind]] = self.arguments
        if self.name:
            self.held[self.kind]["name"] = self.name
        return {**self.held, "id": self.original_id} if self.original_id else self.held


def call_object(id_: str, name: str, arguments: str) -> JsonObject:
    """A call as an entry of `message.tool_calls`."""
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def lacks_index(entry: object) -> bool:
    """Whether a delta does not say which call it belongs to."""
    return isinstance(entry, dict) and call_index(entry) is None


def changed(entry: JsonObject, changes: JsonObject, body_changes: JsonObject) -> JsonObject:
    """The entry with these members of itself and of its body changed; the same object if there are none."""
    if body_changes:
        kind, body = body_of(entry)
        changes[kind] = {**body, **body_changes}
    return {**entry, **changes} if changes else entry
