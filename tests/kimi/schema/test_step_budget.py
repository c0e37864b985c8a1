from __future__ import annotations

import pytest

from moongate.chat.contracts import TakesLong
from moongate.kimi.schema.step_budget import MAX_STEPS, QUICK_STEPS, StepBudget, StepsExhausted


def test_steps_are_taken_until_there_are_none() -> None:
    steps = StepBudget(3)
    steps.take(3)
    with pytest.raises(StepsExhausted):
        steps.take(1)
    assert StepBudget().left == MAX_STEPS


def test_a_portion_gives_back_what_it_has_left() -> None:
    steps = StepBudget(10)
    portion = steps.portion(6)
    portion.take(2)
    steps.settle(portion)
    assert steps.left == 8


def test_a_portion_that_is_exhausted_costs_what_it_was_granted() -> None:
    steps = StepBudget(10)
    portion = steps.portion(100)
    with pytest.raises(StepsExhausted):
        portion.take(11)
    steps.settle(portion)
    assert steps.left == 0


def test_a_quick_budget_allows_no_long_plan() -> None:
    quick = StepBudget(quick=True)
    quick.plan(QUICK_STEPS // 2)
    with pytest.raises(TakesLong):
        quick.plan(QUICK_STEPS // 2 + 1)
    StepBudget().plan(10 * MAX_STEPS)
