"""Deltas: those of calls that the client gets, and those that may bring only a piece of a name (section 3.9)."""

from __future__ import annotations

from moongate.chat.call_grouping import ARGUMENTS, body_of, call_index, text_of
from moongate.kimi.answer.context import AnswerContext
from moongate.payload import JsonObject


def begin_delta(index: int, id_: str, name: str) -> JsonObject:
    """The delta that begins a call (section 5.10)."""
    function = {"name": name, "arguments": ""}
    return {"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]}


def arguments_delta(index: int, text: str) -> JsonObject:
    """The delta with more of its arguments."""
    return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


def delta_of(choice: JsonObject) -> JsonObject:
    delta = choice.get("delta")
    return delta if isinstance(delta, dict) else {}


def begins_name(answer: AnswerContext, delta: JsonObject) -> bool:
    """Whether this delta may bring the beginning of a name, and nothing else of calls."""
    entries = delta.get("tool_calls")
    entry = entries[0] if isinstance(entries, list) and len(entries) == 1 else None
    if not (isinstance(entry, dict) and answer.call_ids.active):
        return False
    kind, body = body_of(entry)
    name = text_of(body.get("name"))
    if not name or body.get(ARGUMENTS[kind]):
        return False
    return answer.may_go_on(name) or (ARGUMENTS[kind] not in body and name not in answer.offered)


def goes_on(begun: JsonObject, delta: JsonObject) -> bool:
    """Whether `delta` may go on with the name of the call that `begun` begins."""
    first, entries = begun["tool_calls"][0], delta.get("tool_calls")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and body_of(entry)[1].get("name"):
            id_, begun_id = entry.get("id"), first.get("id")
            if call_index(entry) in (None, call_index(first)) and (not (id_ and begun_id) or id_ == begun_id):
                return True
    return False
