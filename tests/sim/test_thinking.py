from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import GENERATIONS, Behaviour
from moongate.sim.thinking import effort_of, reasoning_for, thinks

OFF: dict[str, Any] = {"thinking": {"type": "disabled"}}


def test_which_generations_think() -> None:
    thinking = [each for each in GENERATIONS if thinks({}, Behaviour(generation=each))]
    assert thinking == ["k2-thinking", "k2.5", "k2.6", "k2.7", "k2.8", "k3", "k3.1"]
    still = [each for each in GENERATIONS if thinks(OFF, Behaviour(generation=each))]
    assert still == ["k2-thinking", "k2.7", "k2.8", "k3.1"]


def test_open_engines_switch_thinking_in_the_chat_template() -> None:
    off = {"chat_template_kwargs": {"thinking": False}}
    assert not thinks(off, Behaviour(generation="k2.5", host="vllm"))
    assert thinks(off, Behaviour(generation="k2.5", host="moonshot"))


@pytest.mark.parametrize(
    ("request_fields", "effort"),
    [
        ({}, "max"),
        ({"reasoning_effort": "low"}, "low"),
        ({"reasoning_effort": "medium"}, "max"),
        ({"thinking": {"effort": "low"}, "reasoning_effort": "max"}, "low"),
        ({"chat_template_kwargs": {"thinking_effort": "high"}}, "high"),
        ({"thinking": "yes", "reasoning_effort": ["low"]}, "max"),
    ],
)
def test_the_effort_in_force(request_fields: dict[str, Any], effort: str) -> None:
    assert effort_of(request_fields) == effort


@pytest.mark.parametrize("generation", ["k2.8", "k3", "k3.1"])
def test_more_effort_means_longer_reasoning(generation: str) -> None:
    behaviour = Behaviour(generation=generation)
    low, high, most, default = (
        len(reasoning_for({"reasoning_effort": effort}, behaviour, 0)) for effort in ("low", "high", "max", None)
    )
    assert low < high < most == default


def test_generations_without_efforts_reason_alike() -> None:
    behaviour = Behaviour(generation="k2.5")
    assert reasoning_for({"reasoning_effort": "max"}, behaviour, 1) == "The user wants the tools used; step 2."
    assert reasoning_for(OFF, behaviour, 1) == ""
