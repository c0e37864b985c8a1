"""Native tool calls in OpenAI's format, whole or in deltas, with the selected faults."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from moongate.payload import JsonObject, object_of
from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import SimCall

LOST_ID: Final = "call_lost"  # of a call without a name
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


def call_id(call: SimCall, behaviour: Behaviour) -> str | None:
    """The id of a call in the selected shape; None if it has none."""
    shape = behaviour.ids or HOST_IDS.get((behaviour.family, behaviour.host), "")
    digest = hashlib.sha256(f"{call.name}:{call.number}".encode()).hexdigest()
    shapes: dict[str, str | None] = {
        "": f"functions.{call.name}:{call.number}",
        "foreign": f"call_{digest[:24]}",
        "uuid": f"chatcmpl-tool-{digest[:32]}",
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


def whole_calls(calls: Sequence[SimCall], behaviour: Behaviour) -> list[JsonObject]:
    """The `tool_calls` of a whole answer."""
    written = [_written(call, behaviour) for call in calls]
    if behaviour.nameless == "extra":
        written.append({"id": LOST_ID, "type": "function", "function": {"arguments": "{}"}})
    return written


def call_deltas(calls: Sequence[SimCall], behaviour: Behaviour) -> Iterator[JsonObject]:
    """The items of `delta.tool_calls`, one for each chunk."""
    for call in calls:
        yield from _deltas(call, behaviour)
    if behaviour.nameless == "extra" and calls:
        index = {"index": len(calls)}
        yield index | {"id": LOST_ID, "type": "function", "function": {"arguments": ""}}
        yield index | {"function": {}}
        yield index | {"function": {"arguments": "{}"}}


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _deltas(call: SimCall, behaviour: Behaviour) -> Iterator[JsonObject]:
    first = _written(call, behaviour)
    index: JsonObject = {} if behaviour.index == "missing" else {"index": call.position}
    if behaviour.index == "same":
        index = {"index": 0}
    if behaviour.arguments not in ("deltas", "late"):
        yield index | first
        return
    kind, field = ("custom", "input") if call.custom else ("function", "arguments")
    inner = {**first[kind], field: ""}
    name = inner.get("name", "")
    if behaviour.names == "split" and len(name) > 1:
        yield index | first | {kind: {**inner, "name": name[: len(name) // 2]}}
        yield index | {kind: {"name": name[len(name) // 2 :]}}
    else:
        yield index | first | {kind: inner}
    rest: dict[str, JsonObject] = {
        "id": {**first, kind: first[kind]},
        "null": {"id": None, "type": None, kind: {"name": None}},
        "empty": {"id": "", "type": "", kind: {"name": ""}},
    }
    later = rest.get(behaviour.tail, {kind: {}})
    size = behaviour.piece if behaviour.arguments == "deltas" else len(call.arguments) or 1
    for piece in pieces(call.arguments, size):
        yield index | later | {kind: {**later[kind], field: piece}}


def _written(call: SimCall, behaviour: Behaviour) -> JsonObject:
    name = f"functions.{call.name}:{call.number}" if behaviour.names == "prefixed" else call.name
    inner: JsonObject = {} if behaviour.nameless == "all" else {"name": name}
    if call.custom:
        inner["input"] = call.arguments
    elif behaviour.arguments != "none":
        whole = object_of(call.arguments) if behaviour.arguments == "object" else None
        inner["arguments"] = call.arguments if whole is None else whole
    kind = "custom" if call.custom else "function"
    given_id = call_id(call, behaviour)
    if given_id is None and behaviour.ids == "missing":
        return {"type": kind, kind: inner}
    return {"id": given_id, "type": kind, kind: inner}
