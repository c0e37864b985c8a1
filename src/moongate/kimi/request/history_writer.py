"""The message history as it is sent: ids, results in their place, and what hosts refuse (sections 3 and 4).

Copy on write: a message that breaks no rule is sent as the very object that came.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from operator import is_
from typing import Final

from moongate.chat.call_grouping import body_of
from moongate.kimi.notes import Notes
from moongate.kimi.request.history import MISSING, NO_OUTPUT, History, is_empty, is_empty_text
from moongate.kimi.request.reasoning import ReasoningRule
from moongate.kimi.request.tool_names import ToolNames
from moongate.payload import JsonObject, dumps_text, loads, object_of
from moongate.wire.threads import EVERY, let_threads_run

_NONE: Final[Set[int]] = frozenset()


@dataclass(frozen=True, slots=True)
class HistoryWriter:
    """Writes the messages of one request. `names` and the final ids of the calls are settled before."""

    repairs_ids: bool  # section 3 is on
    repairs_history: bool  # section 4 is on
    names: ToolNames
    id_prefix: str | None  # the prefix of ids that contain a tool's name, None if ids are opaque
    reasoning: ReasoningRule | None
    notes: Notes

    def write(self, messages: list[JsonObject], history: History, removed: Set[int] = _NONE) -> list[JsonObject]:
        """The messages to send, without those at the positions `removed`; the same list if nothing changes."""
        write = self._reordered if self.repairs_history else self._in_place
        written = write(messages, history, removed)
        same = len(written) == len(messages) and all(map(is_, written, messages))
        return messages if same else written

    def _reordered(self, messages: list[JsonObject], history: History, removed: Set[int]) -> list[JsonObject]:
        """Each turn with its results directly after it; empty messages and results without a call are left out."""
        written: list[JsonObject] = []
        turn, positions, empty = 0, [*history.turns, len(messages)], set(history.empty_messages)
        next_turn = positions[0]
        for at, message in enumerate(messages):
            if not at % EVERY:
                let_threads_run()
            if at == next_turn:
                sent = self._turn(message, at, history, turn)
                if history.is_dropped(turn) and is_empty(sent):
                    self.notes.add("history_message", f"messages[{at}]", message)
                else:
                    written.append(sent)
                self._add_results(written, messages, history, turn)
                turn += 1
                next_turn = positions[turn]
                continue
            role = message.get("role")
            if role == "tool" or at in removed:
                continue
            if at in empty:
                self.notes.add("history_message", f"messages[{at}]", message)
            elif role == "developer":
                self.notes.add("history_message", f"messages[{at}].role", "developer", "system")
                written.append({**message, "role": "system"})
            else:
                written.append(message)
        for result, at in enumerate(history.results):
            if not history.counts(result):
                self.notes.add("history_message", f"messages[{at}]", messages[at])
        return written

    def _add_results(self, written: list[JsonObject], messages: list[JsonObject], history: History, turn: int) -> None:
        """One result for each call of the turn."""
        calls = [*range(history.first_calls[turn], history.first_calls[turn + 1])]
        if not self.repairs_ids:
            calls = [call for call in calls if history.final_ids[call]]  # to the others no result could belong
            # The order of results belongs to section 3: without it only a missing result needs a certain position.
            if all(history.result_of_call[call] != MISSING for call in calls):
                calls.sort(key=history.result_of_call.__getitem__)
        for place, call in enumerate(calls):
            result = history.result_of_call[call]
            if call in history.dropped:
                continue
            if result == MISSING:
                made = {"role": "tool", "tool_call_id": self._sent_id(history.final_ids[call]), "content": NO_OUTPUT}
                self.notes.add("history_message", f"messages[{history.turns[turn]}]", None, made)
                written.append(made)
                continue
            at = history.results[result]
            if at != (expected := history.turns[turn] + 1 + place):
                self.notes.add("history_message", f"messages[{at}]", at, expected)
            written.append(self._result(messages[at], at, history, call))

    def _in_place(self, messages: list[JsonObject], history: History, removed: Set[int]) -> list[JsonObject]:
        """Every message at its position; only results directly after their turn are put in the order of its calls."""
        written = list(messages)
        left_out = set(removed)
        for at, call in zip(history.results, history.call_of_result, strict=True):
            if call in history.dropped:
                left_out.add(at)
                self.notes.add("history_message", f"messages[{at}]", messages[at])
            elif call != MISSING:
                written[at] = self._result(messages[at], at, history, call)
        for turn, at in enumerate(history.turns):
            written[at] = self._turn(messages[at], at, history, turn)
        if self.repairs_ids:
            self._sort_results(written, history, left_out)
        return [message for at, message in enumerate(written) if at not in left_out] if left_out else written

    def _sort_results(self, written: list[JsonObject], history: History, left_out: Set[int]) -> None:
        call_at = dict(zip(history.results, history.call_of_result, strict=True))
        for turn, position in enumerate(history.turns):
            calls = history.calls_of(turn)
            run: list[tuple[int, int]] = []  # the call, the position of its result
            at = position + 1
            while at in call_at or at in left_out:
                if call_at.get(at) in calls and call_at[at] not in history.dropped:
                    run.append((call_at[at], at))
                at += 1
            moved = [(written[source], target) for (_, source), (_, target) in zip(sorted(run), run, strict=True)]
            for message, target in moved:
                if written[target] is not message:
                    self.notes.add("history_message", f"messages[{target}]")
            for message, target in moved:
                written[target] = message

    def _turn(self, message: JsonObject, at: int, history: History, turn: int) -> JsonObject:
        where, dropped = f"messages[{at}]", history.dropped
        first = history.first_calls[turn]
        calls = [
            self._call(history, call, where, call - first)
            for call in range(first, history.first_calls[turn + 1])
            if not dropped or call not in dropped or self._note_dropped(history, call, where, call - first)
        ]
        if not calls:  # no turn any more
            return {key: value for key, value in message.items() if key != "tool_calls"}
        if len(calls) != len(message["tool_calls"]) or not all(map(is_, calls, message["tool_calls"])):
            message = {**message, "tool_calls": calls}
        content = message.get("content")
        if self.repairs_history and isinstance(content, list) and any(map(is_empty_text, content)):
            kept = [part for part in content if not is_empty_text(part)]
            self.notes.add("history_message", f"{where}.content", content, kept or None)
            message = {**message, "content": kept or None}
        return message if self.reasoning is None else self.reasoning.apply(message, where, self.notes)

    def _note_dropped(self, history: History, call: int, where: str, place: int) -> bool:
        self.notes.add("call_dropped", f"{where}.tool_calls[{place}]", history.calls[call])
        return False

    def _call(self, history: History, number: int, where: str, place: int) -> JsonObject:
        call, final_id = history.calls[number], history.final_ids[number]
        if self.id_prefix is not None:
            final_id = self._sent_id(final_id)
        if final_id != history.original_ids[number]:
            self.notes.add("history_id", f"{where}.tool_calls[{place}].id", call.get("id"), final_id)
            call = {**call, "id": final_id}
        kind, body = body_of(call)
        if self.repairs_ids and not call.get("type"):
            self.notes.add("history_message", f"{where}.tool_calls[{place}].type", call.get("type"), kind)
            call = {**call, "type": kind}
        name, arguments = history.names[number], body.get("arguments")
        text = object_text(arguments) if kind == "function" and self.repairs_history else arguments
        sent, original = self.names.sent(name) if name else body.get("name"), body.get("name")
        if text is arguments and sent == original:
            return call
        changes, path = dict(body), f"{where}.tool_calls[{place}].{kind}"
        if text is not arguments:
            self.notes.add("arguments", f"{path}.arguments", arguments, text)
            changes["arguments"] = text
        if sent != original:
            self.notes.add("tool_name", f"{path}.name", original, sent)
            changes["name"] = sent
        return {**call, kind: changes}

    def _result(self, message: JsonObject, at: int, history: History, call: int) -> JsonObject:
        original_id = message.get("tool_call_id")
        final_id = history.final_ids[call] if self.repairs_ids else original_id
        if self.id_prefix is not None and isinstance(final_id, str):
            final_id = self._sent_id(final_id)
        if final_id != original_id:
            if original_id != history.original_ids[call]:  # otherwise the note of the call covers it
                self.notes.add("history_id", f"messages[{at}].tool_call_id", original_id, final_id)
            message = {**message, "tool_call_id": final_id}
        name = message.get("name")
        if isinstance(name, str) and name in self.names.renamed:
            self.notes.add("tool_name", f"messages[{at}].name", name, self.names.sent(name))
            message = {**message, "name": self.names.sent(name)}
        return message

    def _sent_id(self, final_id: str) -> str:
        return final_id if self.id_prefix is None else self.names.sent_id(final_id, self.id_prefix)


def object_text(arguments: object) -> str:
    """Arguments of the history as the text of a JSON object; the same text if it is one."""
    if isinstance(arguments, dict):
        return dumps_text(arguments)
    if not isinstance(arguments, str):
        return "{}"
    try:
        value: object = loads(arguments)
    except ValueError:
        return "{}"
    if isinstance(value, dict):
        return arguments
    return value if isinstance(value, str) and object_of(value) is not None else "{}"
