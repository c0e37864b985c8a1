from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.json_schema import misfit

from moongate.sim.arguments import arguments_for
from moongate.sim.behaviours import behaviour_of
from moongate.sim.conversation import SimAnswer, SimCall
from moongate.sim.damage import ANSWER_DAMAGE, BEHAVIOUR_DAMAGE, CALL_DAMAGE, UNKNOWN_TOOL, damaged, kinds_of_calls

RICH: dict[str, Any] = {
    "type": "object",
    "properties": {"unit": {"type": "string", "enum": ["metre", "foot"]}, "days": {"type": "integer"}},
    "required": ["unit", "days"],
    "additionalProperties": False,
}
OFFERED = ["lookup_tide", "read_clock"]


def answer_with(parameters: Any, count: int = 1) -> SimAnswer:
    arguments = json.dumps(arguments_for(parameters, 1))
    calls = tuple(SimCall("lookup_tide", arguments, n, n, parameters=parameters) for n in range(count))
    return SimAnswer("I will look.", "hm", calls)


def is_valid(call: SimCall, parameters: Any) -> bool:
    if call.name not in OFFERED:
        return False
    try:
        return misfit(parameters, json.loads(call.arguments)) is None
    except ValueError:
        return False


@pytest.mark.parametrize("kind", CALL_DAMAGE)
def test_each_kind_makes_the_call_wrong(kind: str) -> None:
    good = answer_with(RICH)
    assert is_valid(good.calls[0], RICH)
    played = damaged(good, behaviour_of(f"kimi-k2-sim-{kind}"), OFFERED, 8)
    assert played.kind == kind
    assert not is_valid(played.answer.calls[0], RICH)


@pytest.mark.parametrize("draw", range(16))
@pytest.mark.parametrize(
    "parameters",
    [
        RICH,
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "array"}}}},
        {"type": "object", "properties": {"a": {"type": "boolean"}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}},
        {"type": "object", "properties": {"note": {"enum": ["A", "a", " a"]}}, "additionalProperties": False},
        {"type": "object", "properties": {"a": {"enum": ["é"]}, "note": {"enum": [1]}}, "required": ["a", "note"]},
    ],
)
def test_the_mix_is_always_wrong_and_hits_one_call(parameters: Any, draw: int) -> None:
    good = answer_with(parameters, 2)
    played = damaged(good, behaviour_of("kimi-k2-sim-valid-72"), OFFERED, draw)
    assert played.kind in CALL_DAMAGE
    assert [is_valid(call, parameters) for call in played.answer.calls].count(False) == 1


def test_names_near_an_offered_one() -> None:
    played = damaged(answer_with(RICH), behaviour_of("kimi-k2-sim-near-tool-names"), OFFERED, 0)
    assert played.answer.calls[0].name == "lookup-tide"
    taken = [UNKNOWN_TOOL, *OFFERED]
    unknown = damaged(answer_with(RICH), behaviour_of("kimi-k2-sim-unknown-tools"), taken, 0)
    assert unknown.answer.calls[0].name == f"{UNKNOWN_TOOL}_2"
    every = ["x", "X"]
    answer = SimAnswer("", "", (SimCall("x", "{}", 0, 0),))
    assert damaged(answer, behaviour_of("kimi-k2-sim-near-tool-names"), every, 0).kind == "json-in-text"


@pytest.mark.parametrize("kind", [*ANSWER_DAMAGE, *BEHAVIOUR_DAMAGE])
def test_damage_of_the_whole_answer(kind: str) -> None:
    behaviour = behaviour_of(f"kimi-k2-sim-{kind}")
    good = answer_with(RICH)
    played = damaged(good, behaviour, OFFERED, 5)
    assert played.kind == kind
    assert (played.answer == good) == (kind in BEHAVIOUR_DAMAGE)
    assert (played.behaviour == behaviour) == (kind in ANSWER_DAMAGE)
    assert kind not in ANSWER_DAMAGE or not played.answer.calls


def test_kinds_of_calls() -> None:
    assert kinds_of_calls(behaviour_of("kimi-k2-sim-valid-72")) == list(CALL_DAMAGE)
    assert kinds_of_calls(behaviour_of("kimi-k2-sim-needless-calls")) == []
