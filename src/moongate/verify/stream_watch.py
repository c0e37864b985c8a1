"""What is wrong with the events of a streamed answer, beside what it says. Pure."""

from __future__ import annotations

from moongate.chat.items import Chunk, Done, Item
from moongate.payload import JsonObject

NO_DONE = "no_done"
NO_FINISH = "no_finish"
AFTER_FINISH = "text_after_finish"
NO_INDEX = "no_call_index"
NO_ID = "no_call_id"
CHANGED_ID = "changed_call_id"
NO_USAGE = "no_usage"
USAGE_IN_CHOICE = "usage_in_choice"


class StreamWatch:
    """Sees every item of one stream. `faults()` at its end."""

    def __init__(self, *, usage_due: bool) -> None:
        self.began = False
        self._usage_due = usage_due
        self._done = self._usage = False
        self._usage_in_choice = (
            False  # where OpenAI's clients do not read it; Moonshot's streams have it in both places
        )
        self._finished = dict[object, bool]()  # by choice
        self._ids = dict[tuple[object, object], object]()  # of calls, by choice and index
        self._found = set[str]()

    def see(self, item: Item) -> None:
        if isinstance(item, Done):
            self._done = True
        elif isinstance(item, Chunk):
            self.began = self.began or bool(item.payload.get("choices"))
            self._usage = self._usage or bool(item.payload.get("usage"))
            choices = item.payload.get("choices")
            for choice in choices if isinstance(choices, list) else ():
                if isinstance(choice, dict):
                    self._see_choice(choice)

    def faults(self) -> tuple[str, ...]:
        found = set(self._found)
        if not self._done:
            found.add(NO_DONE)
        if not all(self._finished.values()):
            found.add(NO_FINISH)
        if self._usage_due and not self._usage:
            found.add(USAGE_IN_CHOICE if self._usage_in_choice else NO_USAGE)
        return tuple(sorted(found))

    def _see_choice(self, choice: JsonObject) -> None:
        index = choice.get("index")
        self._usage_in_choice = self._usage_in_choice or bool(choice.get("usage"))
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        calls = delta.get("tool_calls")
        calls = calls if isinstance(calls, list) else []
        if self._finished.get(index) and (delta.get("content") or calls):
            self._found.add(AFTER_FINISH)
        for call in calls:
            if isinstance(call, dict):
                self._see_call(index, call)
        self._finished[index] = self._finished.get(index, False) or choice.get("finish_reason") is not None

    def _see_call(self, choice: object, call: JsonObject) -> None:
        if not isinstance(call.get("index"), int):
            self._found.add(NO_INDEX)
            return
        key, given = (choice, call["index"]), call.get("id")
        if key not in self._ids:
            self._ids[key] = given
            if not given:
                self._found.add(NO_ID)
        elif given and given != self._ids[key]:
            self._found.add(CHANGED_ID)
