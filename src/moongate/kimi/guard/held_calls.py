"""The calls of one streamed choice, held back until they are whole, so that they can be checked and mended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from moongate.chat.call_grouping import CallGrouping, CallSlot, body_of, call_index
from moongate.chat.items import STREAM_MEMBERS, Chunk
from moongate.kimi.answer.call_deltas import arguments_delta, begin_delta
from moongate.kimi.answer.judge import is_json
from moongate.kimi.guard.calls import GuardedCall
from moongate.payload import JsonObject
from moongate.wire.threads import free_in_pieces

MAX_HELD_CHARS: Final = 8 * 1024 * 1024  # of arguments; past that they flow
CHUNK_CHARS: Final = 256  # a chunk counts as so many beside its arguments: it takes memory, however small it is


class Check(Protocol):
    """Checks and mends one call."""

    def __call__(self, name: str, arguments: str, *, custom: bool) -> GuardedCall: ...


class HeldCall(CallSlot):
    """A call, as far as its deltas have come."""

    __slots__ = ("counted", "custom", "index")

    def __init__(self) -> None:
        super().__init__()
        self.index = 0
        self.custom = False
        self.counted = 0  # parts of the arguments whose size is counted


class HeldCalls:
    """`hold` each chunk with calls of the choice, then `release`. A chunk has this one choice and nothing but calls."""

    __slots__ = ("_check", "_checked", "_chunks", "_grouping", "_index", "_released", "_size", "calls", "flowing")

    def __init__(self, index: int, check: Check) -> None:
        self._index = index  # of the choice
        self._check = check
        self._chunks: list[Chunk] = []
        self._checked: list[tuple[HeldCall, GuardedCall]] | None = None  # the held calls, until there are more of them
        self._grouping: CallGrouping[HeldCall] = CallGrouping(HeldCall)
        self._released: set[int] = set()  # indexes of calls that have left
        self._size = 0
        self.calls: list[tuple[HeldCall, GuardedCall]] = []  # those that were released
        self.flowing = False  # there was too much to hold: nothing is held any more

    def hold(self, chunk: Chunk, entries: Sequence[object]) -> list[Chunk]:
        """Hold a chunk back. Chunks that leave: this one if its call has left already, or all if there are too many."""
        deltas = [entry for entry in entries if isinstance(entry, dict)]
        if self.flowing or (self._released and any(call_index(entry) in self._released for entry in deltas)):
            return [chunk]
        self._chunks.append(chunk)
        self._size += CHUNK_CHARS
        self._checked = None
        for entry in deltas:
            call = self._grouping.route(entry)
            if call.fresh:
                call.index = call_index(entry) or 0
                call.custom = body_of(entry)[0] == "custom"
            if len(call.parts) > call.counted:
                call.counted += 1
                self._size += len(call.parts[-1])
        if self._size <= MAX_HELD_CHARS:
            return []
        self.flowing = True
        return self.release()

    def is_next(self, entries: Sequence[object]) -> bool:
        """Do these deltas begin other calls than the held ones, all of which are whole?"""
        held = self._grouping.slots
        indexes = {call_index(entry) for entry in entries if isinstance(entry, dict)}
        if not held or None in indexes or any(call.index in indexes for call in held):
            return False
        return all(is_json(call.arguments) for call in held)

    def checked(self) -> list[tuple[HeldCall, GuardedCall]]:
        """The held calls, as they would leave."""
        if self._checked is None:
            calls = self._grouping.slots
            self._checked = [(call, self._check(call.name, call.arguments, custom=call.custom)) for call in calls]
        return self._checked

    def release(self) -> list[Chunk]:
        """The chunks of all held calls: as they came if none of them was mended."""
        checked = self.checked()
        chunks = self._chunks
        if any(guarded.notes for _, guarded in checked):
            chunks = self._rewritten(checked)
        self.calls += checked
        self._released.update(call.index for call, _ in checked)
        self._chunks, self._checked, self._grouping = [], None, CallGrouping(HeldCall)
        return chunks

    def forget(self) -> None:
        """The answer is over: free what was held."""
        free_in_pieces(self._chunks)
        free_in_pieces(self.calls)
        if self._checked is not None:
            free_in_pieces(self._checked)
        free_in_pieces(self._grouping.slots)
        self._grouping = CallGrouping(HeldCall)

    def _rewritten(self, checked: Sequence[tuple[HeldCall, GuardedCall]]) -> list[Chunk]:
        sample = self._chunks[0].payload
        repeated: JsonObject = {name: sample[name] for name in STREAM_MEMBERS if name in sample}
        deltas: list[JsonObject] = []
        for call, guarded in checked:
            id_ = renamed_id(call.original_id, call.name, guarded.name)
            if call.custom:
                body = {"name": guarded.name, "input": guarded.arguments}
                deltas.append({"tool_calls": [{"index": call.index, "id": id_, "type": "custom", "custom": body}]})
            else:
                deltas.append(begin_delta(call.index, id_, guarded.name))
                deltas.append(arguments_delta(call.index, guarded.arguments))
        choices = [{"index": self._index, "delta": delta, "finish_reason": None} for delta in deltas]
        return [Chunk.of({**repeated, "choices": [choice]}) for choice in choices]


def renamed_id(id_: str, name: str, new: str) -> str:
    """The id of a call whose name was mended: K2's ids contain it."""
    head, colon, index = id_.rpartition(":")
    if name == new or not colon or not head.endswith(f".{name}"):
        return id_
    return f"{head.removesuffix(name)}{new}:{index}"
