"""Wilson's interval and F1, against independent computations."""

from __future__ import annotations

import pytest

from moongate.verify.statistics import MeasuredRate, Triggers, wilson


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [  # from the closed form in exact arithmetic, z = 1.959964
        (72, 100, 0.6251, 0.7986),
        (1, 10, 0.0179, 0.4042),
        (50, 50, 0.9287, 1.0),
        (0, 50, 0.0, 0.0713),
    ],
)
def test_wilson_is_the_known_one(hits: int, of: int, low: float, high: float) -> None:
    assert wilson(hits, of) == pytest.approx((low, high), abs=2e-4)
    for bound in wilson(hits, of):  # a bound p solves (x/n - p)² = z² p (1-p) / n, unless it is 0 or 1
        if 0 < bound < 1:
            assert (hits / of - bound) ** 2 == pytest.approx(1.959963984540054**2 * bound * (1 - bound) / of)


def test_nothing_counted_is_nothing_known() -> None:
    assert MeasuredRate(0, 0).value is None
    assert MeasuredRate(0, 0).interval == (0.0, 1.0)
    assert Triggers().f1 is None
    assert Triggers().plus(called=False, due=False).f1 is None


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    triggers = Triggers()
    for called, due, times in ((True, True, 30), (True, False, 5), (False, True, 10), (False, False, 7)):
        for _ in range(times):
            triggers = triggers.plus(called=called, due=due)
    precision, recall = 30 / 35, 30 / 40
    assert triggers == Triggers(30, 5, 10, 7)
    assert triggers.precision.value == precision
    assert triggers.recall.value == recall
    assert triggers.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    low, high = triggers.f1_interval
    assert 0 < low < triggers.f1_json()["value"] < high < 1
