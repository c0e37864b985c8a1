from __future__ import annotations

from typing import Any

import pytest
from tests.transformers.answers import chunk, whole

from moongate.transformers.reasoning import ReasoningTransformer

ON = {"thinking": {"type": "enabled"}, "enable_thinking": True}
OFF = {"thinking": {"type": "disabled"}, "enable_thinking": False}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({}, ON),
        ({"reasoning_effort": "high"}, {"reasoning_effort": "high", **ON}),
        ({"reasoning": {"effort": "high"}}, ON),
        ({"reasoning": {"max_tokens": 9}}, {**ON, "thinking": {"type": "enabled", "budget_tokens": 9}}),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 8}},
            {**ON, "thinking": {"type": "enabled", "budget_tokens": 8}},
        ),
        ({"thinking": {"type": "enabled", "budget_tokens": "x"}}, ON),
        ({"thinking": "odd", "reasoning": "odd"}, ON),
        ({"thinking": {"type": "disabled"}}, OFF),
        ({"reasoning": {"enabled": False}}, OFF),
        ({"reasoning": {"effort": "none"}}, OFF),
        ({"reasoning_effort": "none"}, {"reasoning_effort": "none", **OFF}),
        ({"enable_thinking": False}, OFF),
    ],
)
def test_thinking_is_on_unless_the_client_declines(given: dict[str, Any], sent: dict[str, Any]) -> None:
    assert ReasoningTransformer().begin(given).request == sent


def test_it_can_be_switched_off() -> None:
    assert ReasoningTransformer.from_config({"enable": False}).begin({"reasoning": {"max_tokens": 3}}).request == OFF


def test_the_answer_has_one_name_for_it() -> None:
    exchange = ReasoningTransformer().begin({})
    found = exchange.reply(whole({"reasoning": "Hm", "content": "a"}))["choices"][0]["message"]
    assert found == {"content": "a", "reasoning_content": "Hm"}
    (item,) = exchange.feed(chunk({"reasoning": "Hm"}))
    assert item.payload["choices"][0]["delta"] == {"reasoning_content": "Hm"}  # type: ignore[union-attr]


@pytest.mark.parametrize("delta", [{}, None, {"reasoning": None}, {"reasoning": "a", "reasoning_content": "a"}])
def test_other_answers_are_left_alone(delta: Any) -> None:
    given = chunk(delta)
    assert ReasoningTransformer().begin({}).feed(given) == (given,)
