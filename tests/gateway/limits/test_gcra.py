"""GCRA against a bucket that is filled step by step with exact fractions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from moongate.gateway.limits.gcra import MINUTE, Rate


class ExactBucket:
    """The same limit, written the other way round: tokens that come back with time."""

    def __init__(self, limit: int) -> None:
        self.limit, self.level, self.last = limit, Fraction(limit), 0

    def take(self, now: int, units: int) -> bool:
        self.level = min(Fraction(self.limit), self.level + Fraction(self.limit * (now - self.last), MINUTE))
        self.last = now
        if self.level < min(units, self.limit):
            return False
        self.level -= units
        return True


@given(
    limit=st.sampled_from([1, 2, 3, 5, 6, 10, 60, 1000]),
    steps=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 70)), max_size=60),
)
def test_it_admits_what_a_bucket_admits(limit: int, steps: list[tuple[int, int]]) -> None:
    rate, bucket, tat, now = Rate(limit), ExactBucket(limit), 0, 0
    for seconds, units in steps:
        now += seconds * 1_000_000_000
        result = rate.take(tat, now, units)
        assert (result >= 0) == bucket.take(now, units)
        tat = max(tat, result)


@given(limit=st.integers(1, 1_000_000), units=st.integers(1, 2_000_000), tat=st.integers(0, 3 * MINUTE))
def test_a_client_that_waits_for_retry_after_is_admitted(limit: int, units: int, tat: int) -> None:
    rate = Rate(limit)
    result = rate.take(tat, MINUTE, units)
    if result < 0:
        assert rate.take(tat, MINUTE - result, units) >= 0
        assert rate.take(tat, MINUTE - result - 1, units) < 0


@given(limit=st.integers(1, 10_000), taken=st.integers(0, 20))
def test_what_remains_can_be_taken_and_not_one_more(limit: int, taken: int) -> None:
    rate, tat = Rate(limit), 0
    for _ in range(taken):
        tat = max(tat, rate.take(tat, MINUTE))
    left = rate.remaining(tat, MINUTE)
    assert left == max(0, limit - taken)
    for _ in range(left):
        tat = rate.take(tat, MINUTE)
        assert tat >= 0
    assert rate.take(tat, MINUTE) < 0


def test_a_request_larger_than_the_limit_leaves_a_debt() -> None:
    rate = Rate(100)
    tat = rate.take(0, MINUTE, 300)
    assert tat == MINUTE + 3 * MINUTE
    assert rate.remaining(tat, MINUTE) == 0
    assert rate.cost(50) == MINUTE // 2
