"""What is asked when an answer is damaged."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.guard.calls import GuardedCall
from moongate.kimi.guard.tries import NOT_RUN, steps_for, with_errors

REQUEST: dict[str, Any] = {"messages": [{"role": "user", "content": "Go."}]}
MESSAGE: dict[str, Any] = {"content": "So.", "tool_calls": [{"id": "a"}, {"id": "b"}]}


@pytest.mark.parametrize(
    ("more", "steps"),
    [
        ({}, ("same", "errors")),
        ({"temperature": 0.6}, ("same", "errors")),
        ({"temperature": 0}, ("errors",)),
        ({"temperature": 0.0}, ("errors",)),
        ({"seed": 0}, ("errors",)),
        ({"seed": None}, ("same", "errors")),
    ],
)
def test_the_same_request_is_left_out_if_sampling_is_fixed(more: dict[str, Any], steps: tuple[str, ...]) -> None:
    assert steps_for({**REQUEST, **more}) == steps


def test_the_refused_turn_is_answered_with_what_is_wrong() -> None:
    calls = [GuardedCall("bash", "{", error="the arguments are not valid JSON"), GuardedCall("bash", "{}")]
    found = with_errors(REQUEST, MESSAGE, calls, seed=1)
    error = "error: the arguments are not valid JSON. The call was not run. Make the call again, corrected."
    assert found["messages"] == [
        *REQUEST["messages"],
        {"role": "assistant", **MESSAGE},
        {"role": "tool", "tool_call_id": "a", "content": error},
        {"role": "tool", "tool_call_id": "b", "content": NOT_RUN},
    ]
    assert "seed" not in found
    assert len(REQUEST["messages"]) == 1


@pytest.mark.parametrize("message", [{}, {"tool_calls": None}, {"tool_calls": [{"id": "a"}, {"id": "b"}]}])
def test_without_a_call_the_same_is_asked_with_another_seed(message: dict[str, Any]) -> None:
    assert with_errors(REQUEST, message, [], seed=None) is REQUEST
    assert with_errors(REQUEST, message, [], seed=3) == {**REQUEST, "seed": 3}
