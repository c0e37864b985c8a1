"""One turn as an OpenAI answer: a whole completion, or the deltas of a stream, with the faults that were asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from moongate.payload import JsonObject, loads
from moongate.sim.behaviours import Behaviour
from moongate.sim.markup import k2_markup, k3_markup
from moongate.sim.script import Call, Turn

REASONING_FIELD: Final = {"vllm": "reasoning", "openrouter": "reasoning"}  # elsewhere reasoning_content
HOST_IDS: Final = {
    # (family, host) → shape. Everywhere else K2 gives functions.<name>:<n>.
    ("k2", "moonshot"): "short",
    ("k2", "openrouter"): "foreign",
    ("k3", "moonshot"): "short",
    ("k3", "vllm"): "uuid",
    ("k3", "sglang"): "short",
    ("k3", "openrouter"): "foreign",
    ("k3", "generic"): "position",
}


@dataclass(frozen=True, slots=True)
class Said:
    """A turn after the faults of markup: what stands in which field."""

    reasoning: str
    content: str
    calls: tuple[Call, ...]


def said(turn: Turn, behaviour: Behaviour) -> Said:
    """Where the calls and the reasoning of a turn end up."""
    reasoning, content = turn.reasoning, turn.text
    if behaviour.calls_in == "native":
        if behaviour.think and reasoning:
            reasoning, content = "", f"<think>{reasoning}</think>{content}"
        return Said(reasoning, content, turn.calls)
    calls = turn.calls if behaviour.calls_in == "both" else ()
    if behaviour.family == "k3":
        return Said(*_k3_fields(turn, behaviour), calls)
    markup = k2_markup(turn.calls, behaviour.grammar) if turn.calls else ""
    if behaviour.calls_in == "reasoning":
        return Said(reasoning + markup, content, calls)
    if behaviour.think and reasoning:
        closing = "" if behaviour.think == "open" and markup else "</think>"
        return Said("", f"<think>{reasoning}{closing}{content if closing else ''}{markup}", calls)
    return Said(reasoning, content + markup, calls)


def _k3_fields(turn: Turn, behaviour: Behaviour) -> tuple[str, str]:
    if behaviour.calls_in == "reasoning" and turn.calls:
        return turn.reasoning + k3_markup("", "", turn.calls, behaviour.grammar), turn.text
    if behaviour.calls_in == "reasoning":
        return turn.reasoning, turn.text
    return "", k3_markup(turn.reasoning, turn.text, turn.calls, behaviour.grammar)


def finish_reason(turn: Turn, behaviour: Behaviour) -> str | None:
    """The finish reason that is given. Calls hidden in text end with `stop`, as the hosts do that leak them."""
    if behaviour.finish == "null":
        return None
    native = bool(turn.calls) and behaviour.calls_in in ("native", "both")
    if behaviour.finish == "tool_calls":
        return "tool_calls"
    if behaviour.finish and turn.calls:
        return behaviour.finish
    return "tool_calls" if native else "stop"


def call_id(call: Call, behaviour: Behaviour) -> str | None:
    """The id in the shape that was asked for; None if there is none."""
    shape = behaviour.ids or HOST_IDS.get((behaviour.family, behaviour.host), "")
    mark = hashlib.sha256(f"{call.name}:{call.number}".encode()).hexdigest()
    shapes: dict[str, str | None] = {
        "": f"functions.{call.name}:{call.number}",
        "foreign": f"call_{mark[:24]}",
        "uuid": f"chatcmpl-tool-{mark[:32]}",
        "empty": "",
        "null": None,
        "missing": None,
        "repeated": f"functions.{call.name}:0",
        "one": "call_0",
        "short": f"{call.name}:{call.number}",
        "safe": f"functions_{call.name}_{call.number}",
        "number": str(call.number),
        "restarted": f"functions.{call.name}:{call.position}",
        "position": f"{call.name}:{call.position}",
    }
    return shapes[shape]


def whole_message(turn: Turn, behaviour: Behaviour) -> JsonObject:
    """The `message` of a whole answer."""
    told = said(turn, behaviour)
    message: JsonObject = {"role": "assistant", "content": told.content or (None if told.calls else "")}
    message |= _reasoning(told.reasoning, behaviour)
    if told.calls:
        message["tool_calls"] = [_native(call, behaviour) for call in told.calls]
    return message


def deltas(turn: Turn, behaviour: Behaviour) -> Iterator[JsonObject]:
    """The deltas of a streamed answer, the one with the finish reason left out."""
    told = said(turn, behaviour)
    yield {"role": "assistant", "content": ""}
    for piece in _pieces(told.reasoning, behaviour.piece):
        yield _reasoning(piece, behaviour)
    content = [{"content": piece} for piece in _pieces(told.content, behaviour.piece)]
    calls = [{"tool_calls": [part]} for call in told.calls for part in _call_deltas(call, behaviour)]
    # Where a host gives both forms, the text that it failed to clean comes last.
    yield from calls + content if behaviour.calls_in == "both" else content + calls


def _call_deltas(call: Call, behaviour: Behaviour) -> Iterator[JsonObject]:
    first = _native(call, behaviour)
    place: JsonObject = {} if behaviour.index == "missing" else {"index": call.position}
    if behaviour.index == "same":
        place = {"index": 0}
    if behaviour.arguments != "deltas":
        yield place | first
        return
    function = {**first["function"], "arguments": ""}
    yield place | first | {"function": function}
    rest: dict[str, JsonObject] = {
        "id": {**first, "function": first["function"]},
        "null": {"id": None, "type": None, "function": {"name": None}},
        "empty": {"id": "", "type": "", "function": {"name": ""}},
    }
    later = rest.get(behaviour.tail, {"function": {}})
    for piece in _pieces(call.arguments, behaviour.piece):
        yield place | later | {"function": {**later["function"], "arguments": piece}}


def _native(call: Call, behaviour: Behaviour) -> JsonObject:
    name = f"functions.{call.name}:{call.number}" if behaviour.names == "prefixed" else call.name
    function: JsonObject = {"name": name}
    if behaviour.arguments != "none":
        arguments: Any = loads(call.arguments) if behaviour.arguments == "object" else call.arguments
        function["arguments"] = arguments
    identity = call_id(call, behaviour)
    if identity is None and behaviour.ids == "missing":
        return {"type": "function", "function": function}
    return {"id": identity, "type": "function", "function": function}


def _reasoning(text: str, behaviour: Behaviour) -> JsonObject:
    if not text:
        return {}
    field = REASONING_FIELD.get(behaviour.host, "reasoning_content")
    told: JsonObject = {field: text}
    if behaviour.host == "openrouter":
        told["reasoning_details"] = [{"type": "reasoning.text", "text": text, "index": 0}]
    return told


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
