"""The budget of further tries."""

from __future__ import annotations

from moongate.gateway.routing.guard_budget import GuardBudget


def test_half_of_the_requests_in_flight_may_be_tried_again() -> None:
    budget = GuardBudget(0.5, lambda: 6)
    assert [budget.take() for _ in range(4)] == [True, True, True, False]
    budget.give_back()
    assert budget.take()
    assert not budget.take()


def test_one_may_always_be_tried_again() -> None:
    budget = GuardBudget(0.0, lambda: 100)
    assert budget.take()
    assert not budget.take()
