"""Which call a delta of `tool_calls` belongs to (sections 3.9 and 11).

By its `index`. Providers leave it out, or use one index for several calls: then another id, or a new name after
arguments, begins a new call; anything else goes on with the current one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, Literal, TypeVar

from moongate.payload import JsonObject, dumps_text, object_of
from moongate.wire.threads import let_threads_run

ARGUMENTS: Final = {"function": "arguments", "custom": "input"}  # the member of a call's body that holds them

_MOST_PROBES: Final = 16  # so that a provider which repeats the name on every delta costs no more than it should


class CallSlot:
    """One call, as far as its deltas have come."""

    __slots__ = ("fresh", "name", "original_id", "parts", "probes")

    def __init__(self) -> None:
        self.original_id = ""  # the first id that is not empty
        self.name = ""  # the first name that is not empty, unless `take_name` says otherwise
        self.parts: list[str] = []  # of the arguments; none is empty
        self.fresh = True  # the last delta was its first
        self.probes = 0

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    def take_name(self, name: str) -> None:
        """A delta of this call has this name, which is not empty."""
        self.name = self.name or name


SlotT = TypeVar("SlotT", bound=CallSlot)


class CallGrouping(Generic[SlotT]):
    """The calls of one choice, in order of appearance."""

    __slots__ = ("_by_index", "_current", "_make", "slots")

    def __init__(self, make: Callable[[], SlotT]) -> None:
        self._make = make
        self._by_index: dict[int, SlotT] = {}
        self._current: SlotT | None = None
        self.slots: list[SlotT] = []

    def route(self, entry: JsonObject) -> SlotT:
        """The call that this delta belongs to, with the delta added to it."""
        let_threads_run()  # an answer may hold a hundred thousand calls
        index = call_index(entry)
        kind, body = body_of(entry)
        original_id, name = text_of(entry.get("id")), text_of(body.get("name"))
        arguments = arguments_text(body.get(ARGUMENTS[kind]))
        slot = self._current if index is None else self._by_index.get(index)
        if slot is None or _begins(slot, original_id, name, arguments):
            slot = self._make()
            self.slots.append(slot)
            if index is not None:
                self._by_index[index] = slot
        else:
            slot.fresh = False
        self._current = slot
        slot.original_id = slot.original_id or original_id
        if name:
            slot.take_name(name)
        if arguments:
            slot.parts.append(arguments)
        return slot


def _begins(slot: CallSlot, original_id: str, name: str, arguments: str) -> bool:
    """Does a delta with this id and name begin another call than `slot`?"""
    if original_id and slot.original_id:
        return original_id != slot.original_id
    if not name or not slot.name or not slot.parts:
        return False
    if name != slot.name:
        return True
    # The same name again, and no id to tell: another call only if the arguments so far are complete.
    if (
        original_id
        or slot.original_id
        or not arguments
        or slot.probes == _MOST_PROBES
        or not slot.parts[-1].rstrip().endswith("}")
    ):
        return False
    slot.probes += 1
    return object_of(slot.arguments.encode("utf-8", "surrogatepass")) is not None


def call_index(entry: JsonObject) -> int | None:
    index = entry.get("index")
    return index if type(index) is int and index >= 0 else None


def body_of(entry: JsonObject) -> tuple[Literal["function", "custom"], JsonObject]:
    """Where a call has its name and arguments: `function`, or `custom` in a call of a custom tool."""
    function = entry.get("function")
    if isinstance(function, dict):
        return "function", function
    custom = entry.get("custom")
    return ("custom", custom) if isinstance(custom, dict) else ("function", {})


def function_of(entry: JsonObject) -> JsonObject:
    function = entry.get("function")
    return function if isinstance(function, dict) else {}


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def arguments_text(value: Any) -> str:
    """Arguments as JSON text: some hosts send the object itself. Nothing is an empty text."""
    if isinstance(value, str):
        return value
    return "" if value is None else dumps_text(value)
