"""Damaged tool turns: one call of an answer, or the answer itself, made wrong in a known way.

Each kind of damage to a call guarantees that the call does not fit: a kind that a tool's schema gives no chance for
is passed over for the next one. The last two kinds of `CALL_DAMAGE` need no schema, so one always applies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from moongate.payload import JsonObject, dumps_text, object_of
from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import SimAnswer, SimCall

UNKNOWN_TOOL: Final = "look_up_everything"
INSTEAD: Final = "I would have to look that up."

Damage = Callable[[SimCall, Sequence[str]], SimCall | None]  # the call, the names of all offered tools


@dataclass(frozen=True, slots=True)
class DamagedAnswer:
    """An answer with its damage. `kind` is the kind that was really played."""

    kind: str
    answer: SimAnswer
    behaviour: Behaviour


def kinds_of_calls(behaviour: Behaviour) -> list[str]:
    """The kinds that turns with calls can get; all kinds of damage to a call if none is selected."""
    return [kind for kind in behaviour.damage or CALL_DAMAGE if kind != "needless-calls"]


def damaged(answer: SimAnswer, behaviour: Behaviour, offered: Sequence[str], draw: int) -> DamagedAnswer:
    """The answer, made wrong. `draw` selects the kind of damage, and the call that it hits."""
    kinds = kinds_of_calls(behaviour)
    kind = kinds[draw % len(kinds)]
    if kind in ANSWER_DAMAGE:
        return DamagedAnswer(kind, ANSWER_DAMAGE[kind](answer), behaviour)
    if kind in BEHAVIOUR_DAMAGE:
        return DamagedAnswer(kind, answer, replace(behaviour, **BEHAVIOUR_DAMAGE[kind]))
    position = draw // len(kinds) % len(answer.calls)
    order = [*kinds[draw % len(kinds) :], *kinds[: draw % len(kinds)], *CALL_DAMAGE]
    for each in order:
        call = CALL_DAMAGE[each](answer.calls[position], offered) if each in CALL_DAMAGE else None
        if call is not None:
            calls = (*answer.calls[:position], call, *answer.calls[position + 1 :])
            return DamagedAnswer(each, replace(answer, calls=calls), behaviour)
    raise AssertionError("broken JSON always applies")


def _wrong_types(call: SimCall, _offered: Sequence[str]) -> SimCall | None:
    arguments = object_of(call.arguments) or {}
    for key, schema in _properties(call).items():
        if key not in arguments or not isinstance(schema, dict) or not isinstance(schema.get("type"), str):
            continue
        value = arguments[key]
        wrong: Any = dumps_text(value)
        if schema["type"] == "array":
            wrong = value[0] if value and not isinstance(value[0], list) else {}
        elif schema["type"] == "string":
            wrong = call.number
        return _with(call, {**arguments, key: wrong})
    return None


def _missing_required(call: SimCall, _offered: Sequence[str]) -> SimCall | None:
    arguments = object_of(call.arguments) or {}
    required = _schema(call).get("required")
    key = next((key for key in required if key in arguments), None) if isinstance(required, list) else None
    if key is None:
        return None
    return _with(call, {name: value for name, value in arguments.items() if name != key})


def _unknown_properties(call: SimCall, _offered: Sequence[str]) -> SimCall | None:
    if _schema(call).get("additionalProperties") is not False or "patternProperties" in _schema(call):
        return None
    name = "note"
    while name in _properties(call):
        name += "_2"
    return _with(call, {**(object_of(call.arguments) or {}), name: "made up"})


def _enum_near_misses(call: SimCall, _offered: Sequence[str]) -> SimCall | None:
    arguments = object_of(call.arguments) or {}
    for key, schema in _properties(call).items():
        options = schema.get("enum") if isinstance(schema, dict) else None
        value = arguments.get(key)
        if isinstance(options, list) and isinstance(value, str):
            near = next((each for each in (value.upper(), value.title(), f" {value}") if each not in options), None)
            if near is not None:
                return _with(call, {**arguments, key: near})
    return None


def _json_in_text(call: SimCall, _offered: Sequence[str]) -> SimCall | None:
    return replace(call, arguments=dumps_text(call.arguments))


def _broken_json(call: SimCall, _offered: Sequence[str]) -> SimCall | None:
    return replace(call, arguments=call.arguments[:-1])


def _unknown_tools(call: SimCall, offered: Sequence[str]) -> SimCall | None:
    name = UNKNOWN_TOOL
    while name in offered:
        name += "_2"
    return replace(call, name=name)


def _near_tool_names(call: SimCall, offered: Sequence[str]) -> SimCall | None:
    near = (call.name.replace("_", "-"), call.name.title(), call.name.upper(), call.name.lower())
    name = next((each for each in near if each not in offered), None)
    return None if name is None else replace(call, name=name)


CALL_DAMAGE: Final[dict[str, Damage]] = {
    "wrong-types": _wrong_types,
    "missing-required": _missing_required,
    "unknown-properties": _unknown_properties,
    "enum-near-misses": _enum_near_misses,
    "json-in-text": _json_in_text,
    "unknown-tools": _unknown_tools,
    "near-tool-names": _near_tool_names,
    "broken-json": _broken_json,
}
ANSWER_DAMAGE: Final[dict[str, Callable[[SimAnswer], SimAnswer]]] = {
    "missing-calls": lambda answer: SimAnswer(INSTEAD, answer.reasoning),
    "empty-turns": lambda answer: SimAnswer("", answer.reasoning),
}
BEHAVIOUR_DAMAGE: Final[dict[str, JsonObject]] = {
    "lost-names": {"nameless": "all"},
    "leaked-markers": {"calls_in": "content"},
    "wrong-finishes": {"finish": "stop"},
}


def _schema(call: SimCall) -> JsonObject:
    return call.parameters if isinstance(call.parameters, dict) else {}


def _properties(call: SimCall) -> JsonObject:
    properties = _schema(call).get("properties")
    return properties if isinstance(properties, dict) else {}


def _with(call: SimCall, arguments: JsonObject) -> SimCall:
    return replace(call, arguments=dumps_text(arguments))
