from __future__ import annotations

import pytest

from moongate.errors import TooManyRequests
from moongate.gateway.config.settings import ProviderKey, Retries
from moongate.gateway.health import Budget, Health, KeyRing

RULES = Retries()


def test_five_failures_in_a_row_begin_a_cool_down() -> None:
    health = Health(RULES)
    assert [health.failed(1.0) for _ in range(5)] == [False] * 4 + [True]
    assert not health.available(5.9)
    assert health.available(6.0)


def test_a_success_between_starts_the_row_again() -> None:
    health = Health(RULES)
    for _ in range(4):
        health.failed(1.0)
    health.succeeded(1.0)
    assert not health.failed(1.0)
    assert health.available(1.0)


def test_more_than_half_of_ten_begin_a_cool_down() -> None:
    health = Health(Retries(failures=100))
    for _ in range(4):
        health.succeeded(1.0)
    assert [health.failed(2.0) for _ in range(6)] == [False] * 5 + [True]


def test_what_is_older_than_the_window_is_forgotten() -> None:
    health = Health(Retries(failures=100))
    for _ in range(9):
        health.failed(1.0)
    assert not health.failed(40.0)
    health.succeeded(1000.0)
    assert not health.failed(1000.0)


def test_after_a_cool_down_one_probe_goes_ahead() -> None:
    health = Health(RULES)
    for _ in range(5):
        health.failed(0.0)
    assert health.available(5.0)
    health.begin(5.0)
    assert not health.available(5.0)
    health.abandoned()
    assert health.available(5.0)
    health.begin(5.0)
    health.succeeded(5.5)
    assert health.available(5.5)
    health.begin(5.5)
    assert health.available(5.5)


def test_cool_downs_double_up_to_a_limit() -> None:
    health = Health(RULES)
    for _ in range(4):
        health.failed(0.0)
    now, lengths = 0.0, []
    for _ in range(6):
        health.begin(now)
        assert health.failed(now)
        lengths.append(health.until - now)
        now = health.until
    assert lengths == [5, 10, 20, 40, 60, 60]


def test_a_late_failure_during_a_cool_down_does_not_lengthen_it() -> None:
    health = Health(RULES)
    for _ in range(5):
        health.failed(0.0)
    assert not health.failed(1.0)
    assert health.until == 5.0


def ring(*concurrency: int) -> KeyRing:
    return KeyRing([ProviderKey(key=f"k{n}", concurrency=limit) for n, limit in enumerate(concurrency)])


def test_keys_take_turns() -> None:
    keys = ring(0, 0, 0)
    assert len({keys.take(0.0).header for _ in range(3)}) == 3


def test_a_provider_without_a_key_gets_none() -> None:
    assert KeyRing([]).take(0.0).header == b""


def test_a_cooling_key_is_passed_over_unless_all_cool() -> None:
    keys = ring(0, 0)
    bad = keys.take(0.0)
    keys.cool(bad, 10.0)
    assert keys.ready(0.0)
    assert all(keys.take(0.0) is not bad for _ in range(4))
    other = keys.take(0.0)
    keys.cool(other, 20.0)
    assert not keys.ready(0.0)
    assert keys.take(0.0) is bad
    keys.cool(other, 5.0)
    assert keys.take(19.0) is bad


def test_a_busy_key_is_passed_over_until_all_are_busy() -> None:
    keys = ring(1, 1)
    first, second = keys.take(0.0), keys.take(0.0)
    assert first is not second
    with pytest.raises(TooManyRequests):
        keys.take(0.0)
    keys.give_back(first)
    assert keys.take(0.0) is first


@pytest.mark.parametrize(
    ("retrying", "in_flight", "allowed"), [(0, 0, True), (2, 1, True), (3, 10, False), (3, 16, True), (20, 100, False)]
)
def test_the_retry_budget(retrying: int, in_flight: int, allowed: bool) -> None:
    budget = Budget(RULES)
    budget.retrying = retrying
    assert budget.allows(in_flight) is allowed
