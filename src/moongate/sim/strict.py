"""The strict mode: a history that a real host could not make sense of is refused instead of played badly.

K2 prints the id of a call, and nothing else, into the prompt: an id that does not name its function loses the call.
K3 pairs results with calls by their ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moongate.payload import JsonObject, object_of
from moongate.sim.behaviours import Behaviour
from moongate.sim.script import calls_in

K2_ID: Final = re.compile(r"functions\.(?P<name>.+):(?P<index>[0-9]{1,9})", re.ASCII | re.DOTALL)


def strict_refusal(request: JsonObject, behaviour: Behaviour) -> str | None:
    """Why this history cannot be read, or None."""
    messages = [m for m in request.get("messages") or [] if isinstance(m, dict)]
    return next(_complaints(messages, behaviour), None)


def _complaints(messages: list[JsonObject], behaviour: Behaviour) -> Iterator[str]:
    seen: set[str] = set()
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message.get("role") == "tool":
            identity = message.get("tool_call_id")
            if identity not in waiting:
                yield f"messages[{place}].tool_call_id {identity!r} answers no call of the message before it"
            else:
                waiting.remove(identity)
            continue
        if waiting:
            yield f"messages[{place}] stands before the results of {', '.join(waiting)}"
        calls = calls_in(message)
        yield from _reasoning_lost(place, message, behaviour)
        for number, call in enumerate(calls):
            yield from _bad_call(f"messages[{place}].tool_calls[{number}]", call, behaviour, seen)
            seen.add(str(call.get("id")))
        waiting = [str(call.get("id")) for call in calls]
    if waiting:
        yield f"the calls {', '.join(waiting)} have no results"


def _bad_call(where: str, call: JsonObject, behaviour: Behaviour, seen: set[str]) -> Iterator[str]:
    identity = call.get("id")
    function = call.get("function") or {}
    name = function.get("name")
    if not isinstance(identity, str) or not identity:
        yield f"{where}.id is empty"
    elif identity in seen:
        yield f"{where}.id {identity!r} is repeated"
    elif behaviour.family == "k2":
        found = K2_ID.fullmatch(identity)
        if found is None or found["name"] != name:
            yield f"{where}.id {identity!r} is not of the form functions.{name}:<n>"
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or object_of(arguments) is None:
        yield f"{where}.function.arguments is not a JSON object in text form"


def _reasoning_lost(place: int, message: JsonObject, behaviour: Behaviour) -> Iterator[str]:
    # vLLM's request side reads only `reasoning`.
    if behaviour.host == "vllm" and message.get("reasoning_content") and not message.get("reasoning"):
        yield f"messages[{place}].reasoning is missing: reasoning_content is not read here"
