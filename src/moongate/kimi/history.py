"""The message history as it is sent: ids, results in their place, and what hosts refuse (sections 3 and 4).

Copy on write: a message that breaks no rule is sent as the very object that came.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import is_
from typing import Any

from moongate.kimi.names import ToolNames
from moongate.kimi.notes import Notes
from moongate.kimi.past import NO_OUTPUT, Past, PastCall, Result, Turn, is_empty_text
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
        turns, hollow = iter(past.turns), set(past.hollow)
        turn = next(turns, None)
        for at, message in enumerate(messages):
            if turn is not None and turn.at == at:
                written.append(self._turn(turn))
                written += self._results(turn)
                turn = next(turns, None)
            elif at in hollow:
                self.notes.add("history_message", f"messages[{at}]", message)
            elif message.get("role") == "developer":
                self.notes.add("history_message", f"messages[{at}].role", "developer", "system")
                written.append({**message, "role": "system"})
            elif message.get("role") != "tool":
                written.append(message)
        for result in past.results:
            if not result.counts:
                self.notes.add("history_message", f"messages[{result.at}]", result.message)
        return written

    def _results(self, turn: Turn) -> Iterator[JsonObject]:
        """One result for each call."""
        calls = turn.calls
        if not self.mends_ids and all(call.result for call in calls):
            # Order is a matter of section 3: without it only a missing result has to stand at a place of its own.
            calls = sorted(calls, key=lambda call: call.result.at if call.result else 0)
        for place, call in enumerate(calls, turn.at + 1):
            if call.result is None:
                made = {"role": "tool", "tool_call_id": self._sent_id(call.final), "content": NO_OUTPUT}
                self.notes.add("history_message", f"messages[{turn.at}]", None, made)
                yield made
                continue
            if call.result.at != place:
                self.notes.add("history_message", f"messages[{call.result.at}]", call.result.at, place)
            yield self._result(call.result)

    def _in_place(self, messages: list[JsonObject], past: Past) -> list[JsonObject]:
        """Every message at its place, only the results directly behind their message in the order of its calls."""
        written = list(messages)
        for result in past.results:
            written[result.at] = self._result(result)
        for turn in past.turns:
            written[turn.at] = self._turn(turn)
        if self.mends_ids:
            self._sort_runs(written, past)
        return written

    def _sort_runs(self, written: list[JsonObject], past: Past) -> None:
        places = {result.at: result for result in past.results}
        for turn in past.turns:
            order = {id(call): position for position, call in enumerate(turn.calls)}
            run: list[tuple[int, int]] = []  # place in the order of calls, place in the messages
            at = turn.at + 1
            while at in places:
                call = places[at].call
                if call is not None and call.turn is turn:
                    run.append((order[id(call)], at))
                at += 1
            moved = [(written[source], target) for (_, source), (_, target) in zip(sorted(run), run, strict=True)]
            for message, target in moved:
                if written[target] is not message:
                    self.notes.add("history_message", f"messages[{target}]")
            for message, target in moved:
                written[target] = message

    def _turn(self, turn: Turn) -> JsonObject:
        message = turn.message
        where = f"messages[{turn.at}]"
        calls = [self._call(call, where, position) for position, call in enumerate(turn.calls)]
        if not all(map(is_, calls, message["tool_calls"])):
            message = {**message, "tool_calls": calls}
        content = message.get("content")
        if self.mends_history and isinstance(content, list) and any(map(is_empty_text, content)):
            left = [part for part in content if not is_empty_text(part)]
            self.notes.add("history_message", f"{where}.content", content, left or None)
            message = {**message, "content": left or None}
        return message if self.reasoning is None else self.reasoning.mend(message, where, self.notes)

    def _call(self, call: PastCall, where: str, position: int) -> JsonObject:
        body = call.body
        final = self._sent_id(call.final)
        if final != call.given:
            self._note("history_id", f"{where}.tool_calls[{position}].id", body.get("id"), final)
            body = {**body, "id": final}
        if self.mends_ids and not body.get("type"):
            self._note("history_message", f"{where}.tool_calls[{position}].type", body.get("type"), "function")
            body = {**body, "type": "function"}
        function = body["function"]
        name = self.names.sent(call.name)
        arguments = function.get("arguments")
        text = object_text(arguments) if self.mends_history else arguments
        if name == function["name"] and text is arguments:
            return body
        function = {**function, "name": name}
        if text is not arguments:
            self._note("arguments", f"{where}.tool_calls[{position}].function.arguments", arguments, text)
            function["arguments"] = text
        if name != call.body["function"]["name"]:
            self._note(
                "tool_name", f"{where}.tool_calls[{position}].function.name", call.body["function"]["name"], name
            )
        return {**body, "function": function}

    def _result(self, result: Result) -> JsonObject:
        message = result.message
        if result.call is None:
            return message
        given = message.get("tool_call_id")
        final = result.call.final if self.mends_ids else given
        if isinstance(final, str):
            final = self._sent_id(final)
        if final != given:
            if given != result.call.given:  # else the note of its call says it
                self._note("history_id", f"messages[{result.at}].tool_call_id", given, final)
            message = {**message, "tool_call_id": final}
        name = message.get("name")
        if isinstance(name, str) and name in self.names.renamed:
            self._note("tool_name", f"messages[{result.at}].name", name, self.names.sent(name))
            message = {**message, "name": self.names.sent(name)}
        return message

    def _sent_id(self, final: str) -> str:
        return final if self.id_prefix is None else self.names.sent_id(final, self.id_prefix)

    def _note(self, kind: str, where: str, before: Any, after: Any) -> None:
        self.notes.add(kind, where, before, after)


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
