"""The message history as it is sent: ids, results in their place, and what hosts refuse (sections 3 and 4).

Copy on write: a message that breaks no rule is sent as the very object that came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

from moongate.kimi.names import ToolNames
from moongate.kimi.notes import Notes
from moongate.kimi.past import NO_OUTPUT, NONE, Past, is_empty_text
from moongate.kimi.reasoning import ReasoningRule
from moongate.payload import JsonObject, dumps_text, loads, object_of


@dataclass(frozen=True, slots=True)
class HistoryWriter:
    """Writes the messages of one request. `names` and the final ids of the calls are settled before."""

    mends_ids: bool  # section 3 is on
    mends_history: bool  # section 4 is on
    names: ToolNames
    id_prefix: str | None  # the prefix of ids that bear a tool's name, None if ids are opaque
    reasoning: ReasoningRule | None
    notes: Notes

    def write(self, messages: list[JsonObject], past: Past) -> list[JsonObject]:
        """The messages to send; the same list if nothing changes."""
        written = self._in_order(messages, past) if self.mends_history else self._in_place(messages, past)
        same = len(written) == len(messages) and all(map(is_, written, messages))
        return messages if same else written

    def _in_order(self, messages: list[JsonObject], past: Past) -> list[JsonObject]:
        """Each assistant message with its results directly behind it; what belongs nowhere is left out."""
        written: list[JsonObject] = []
        turn, places, hollow = 0, [*past.turns, len(messages)], set(past.hollow)
        for at, message in enumerate(messages):
            if at == places[turn]:
                written.append(self._turn(message, at, past, turn))
                self._add_results(written, messages, past, turn)
                turn += 1
            elif at in hollow:
                self.notes.add("history_message", f"messages[{at}]", message)
            elif message.get("role") == "developer":
                self.notes.add("history_message", f"messages[{at}].role", "developer", "system")
                written.append({**message, "role": "system"})
            elif message.get("role") != "tool":
                written.append(message)
        for result, at in enumerate(past.results):
            if not past.counts(result):
                self.notes.add("history_message", f"messages[{at}]", messages[at])
        return written

    def _add_results(self, written: list[JsonObject], messages: list[JsonObject], past: Past, turn: int) -> None:
        """One result for each call."""
        calls: Sequence[int] = past.calls_of(turn)
        if not self.mends_ids and all(past.of_calls[call] != NONE for call in calls):
            # Order is a matter of section 3: without it only a missing result has to stand at a place of its own.
            calls = sorted(calls, key=past.of_calls.__getitem__)
        for place, call in enumerate(calls, past.turns[turn] + 1):
            result = past.of_calls[call]
            if result == NONE:
                made = {"role": "tool", "tool_call_id": self._sent_id(past.finals[call]), "content": NO_OUTPUT}
                self.notes.add("history_message", f"messages[{past.turns[turn]}]", None, made)
                written.append(made)
                continue
            at = past.results[result]
            if at != place:
                self.notes.add("history_message", f"messages[{at}]", at, place)
            written.append(self._result(messages[at], at, past, call))

    def _in_place(self, messages: list[JsonObject], past: Past) -> list[JsonObject]:
        """Every message at its place, only the results directly behind their message in the order of its calls."""
        written = list(messages)
        for at, call in zip(past.results, past.of_results, strict=True):
            if call != NONE:
                written[at] = self._result(messages[at], at, past, call)
        for turn, at in enumerate(past.turns):
            written[at] = self._turn(messages[at], at, past, turn)
        if self.mends_ids:
            self._sort_runs(written, past)
        return written

    def _sort_runs(self, written: list[JsonObject], past: Past) -> None:
        called = dict(zip(past.results, past.of_results, strict=True))
        for turn, place in enumerate(past.turns):
            calls = past.calls_of(turn)
            run: list[tuple[int, int]] = []  # the call, its result's place
            at = place + 1
            while at in called:
                if called[at] in calls:
                    run.append((called[at], at))
                at += 1
            moved = [(written[source], target) for (_, source), (_, target) in zip(sorted(run), run, strict=True)]
            for message, target in moved:
                if written[target] is not message:
                    self.notes.add("history_message", f"messages[{target}]")
            for message, target in moved:
                written[target] = message

    def _turn(self, message: JsonObject, at: int, past: Past, turn: int) -> JsonObject:
        where = f"messages[{at}]"
        calls = [self._call(past, call, where, place) for place, call in enumerate(past.calls_of(turn))]
        if not all(map(is_, calls, message["tool_calls"])):
            message = {**message, "tool_calls": calls}
        content = message.get("content")
        if self.mends_history and isinstance(content, list) and any(map(is_empty_text, content)):
            left = [part for part in content if not is_empty_text(part)]
            self.notes.add("history_message", f"{where}.content", content, left or None)
            message = {**message, "content": left or None}
        return message if self.reasoning is None else self.reasoning.mend(message, where, self.notes)

    def _call(self, past: Past, call: int, where: str, place: int) -> JsonObject:
        came = body = past.calls[call]
        final = self._sent_id(past.finals[call])
        if final != past.given[call]:
            self.notes.add("history_id", f"{where}.tool_calls[{place}].id", body.get("id"), final)
            body = {**body, "id": final}
        if self.mends_ids and not body.get("type"):
            self.notes.add("history_message", f"{where}.tool_calls[{place}].type", body.get("type"), "function")
            body = {**body, "type": "function"}
        function = body["function"]
        name = self.names.sent(past.names[call])
        arguments = function.get("arguments")
        text = object_text(arguments) if self.mends_history else arguments
        if name == function["name"] and text is arguments:
            return body
        function = {**function, "name": name}
        if text is not arguments:
            self.notes.add("arguments", f"{where}.tool_calls[{place}].function.arguments", arguments, text)
            function["arguments"] = text
        if name != came["function"]["name"]:
            self.notes.add("tool_name", f"{where}.tool_calls[{place}].function.name", came["function"]["name"], name)
        return {**body, "function": function}

    def _result(self, message: JsonObject, at: int, past: Past, call: int) -> JsonObject:
        given = message.get("tool_call_id")
        final = past.finals[call] if self.mends_ids else given
        if isinstance(final, str):
            final = self._sent_id(final)
        if final != given:
            if given != past.given[call]:  # else the note of its call says it
                self.notes.add("history_id", f"messages[{at}].tool_call_id", given, final)
            message = {**message, "tool_call_id": final}
        name = message.get("name")
        if isinstance(name, str) and name in self.names.renamed:
            self.notes.add("tool_name", f"messages[{at}].name", name, self.names.sent(name))
            message = {**message, "name": self.names.sent(name)}
        return message

    def _sent_id(self, final: str) -> str:
        return final if self.id_prefix is None else self.names.sent_id(final, self.id_prefix)


def object_text(arguments: Any) -> str:
    """Historic arguments as the text of a JSON object; the very same text if it is one."""
    if isinstance(arguments, dict):
        return dumps_text(arguments)
    if not isinstance(arguments, str):
        return "{}"
    try:
        value = loads(arguments)
    except ValueError:
        return "{}"
    if isinstance(value, dict):
        return arguments
    return value if isinstance(value, str) and object_of(value) is not None else "{}"
