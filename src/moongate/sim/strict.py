"""The strict mode: rejects a history that the real model would misread, instead of answering it.

K2's chat template writes only the id of a call into the prompt, so an id that does not name its function loses the
call. K3 pairs results with calls by their ids. With `rising`, the numbers of K2 ids must also rise over the whole
conversation: K2 counts so, and stops calling where its history does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moongate.payload import JsonObject, object_of
from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import calls_in

K2_ID: Final = re.compile(r"functions\.(?P<name>.+):(?P<index>[0-9]{1,9})", re.ASCII | re.DOTALL)


def history_error(request: JsonObject, behaviour: Behaviour) -> str | None:
    """Why the model would misread this history, or None."""
    messages = [m for m in request.get("messages") or [] if isinstance(m, dict)]
    return next(_history_errors(messages, behaviour), None)


def _history_errors(messages: list[JsonObject], behaviour: Behaviour) -> Iterator[str]:
    seen: set[str] = set()
    waiting: list[str] = []
    highest = -1
    for position, message in enumerate(messages):
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in waiting:
                yield f"messages[{position}].tool_call_id {call_id!r} answers no call of the message before it"
            else:
                waiting.remove(call_id)
            continue
        if waiting:
            yield f"messages[{position}] stands before the results of {', '.join(waiting)}"
        calls = calls_in(message)
        yield from _reasoning_errors(position, message, behaviour)
        for number, call in enumerate(calls):
            where = f"messages[{position}].tool_calls[{number}]"
            yield from _call_errors(where, call, behaviour, seen)
            seen.add(str(call.get("id")))
            found = K2_ID.fullmatch(str(call.get("id"))) if behaviour.rising and behaviour.family == "k2" else None
            if found is not None and int(found["index"]) <= highest:
                yield f"{where}.id {call.get('id')!r} has a number that is not above {highest}"
            highest = max(highest, int(found["index"])) if found is not None else highest
        waiting = [str(call.get("id")) for call in calls]
    if waiting:
        yield f"the calls {', '.join(waiting)} have no results"


def _call_errors(where: str, call: JsonObject, behaviour: Behaviour, seen: set[str]) -> Iterator[str]:
    call_id = call.get("id")
    function = call.get("function") or call.get("custom") or {}
    name = function.get("name")
    if not isinstance(call_id, str) or not call_id:
        yield f"{where}.id is empty"
    elif call_id in seen:
        yield f"{where}.id {call_id!r} is repeated"
    elif behaviour.family == "k2":
        found = K2_ID.fullmatch(call_id)
        if found is None or found["name"] != name:
            yield f"{where}.id {call_id!r} is not of the form functions.{name}:<n>"
    arguments = function.get("arguments")
    if call.get("type") == "custom":
        if not isinstance(function.get("input"), str):
            yield f"{where}.custom.input is not a text"
        return
    if not isinstance(arguments, str) or object_of(arguments) is None:
        yield f"{where}.function.arguments is not a JSON object in text form"


def _reasoning_errors(position: int, message: JsonObject, behaviour: Behaviour) -> Iterator[str]:
    # vLLM's request side reads only `reasoning`.
    if behaviour.host == "vllm" and message.get("reasoning_content") and not message.get("reasoning"):
        yield f"messages[{position}].reasoning is missing: reasoning_content is not read here"
