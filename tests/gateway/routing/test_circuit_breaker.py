from __future__ import annotations

from moongate.gateway.config.limit_settings import Retries
from moongate.gateway.routing.circuit_breaker import CircuitBreaker

RULES = Retries()


def test_five_consecutive_failures_begin_a_cool_down() -> None:
    breaker = CircuitBreaker(RULES)
    assert [breaker.failed(1.0) for _ in range(5)] == [False] * 4 + [True]
    assert not breaker.available(5.9)
    assert breaker.available(6.0)


def test_a_success_restarts_the_count_of_consecutive_failures() -> None:
    breaker = CircuitBreaker(RULES)
    for _ in range(4):
        breaker.failed(1.0)
    breaker.succeeded(1.0)
    assert not breaker.failed(1.0)
    assert breaker.available(1.0)


def test_failures_of_more_than_half_of_ten_answers_begin_a_cool_down() -> None:
    breaker = CircuitBreaker(Retries(failures=100))
    for _ in range(4):
        breaker.succeeded(1.0)
    assert [breaker.failed(2.0) for _ in range(6)] == [False] * 5 + [True]


def test_answers_older_than_the_window_do_not_count() -> None:
    breaker = CircuitBreaker(Retries(failures=100))
    for _ in range(9):
        breaker.failed(1.0)
    assert not breaker.failed(40.0)
    breaker.succeeded(1000.0)
    assert not breaker.failed(1000.0)


def test_after_a_cool_down_one_probe_goes_ahead() -> None:
    breaker = CircuitBreaker(RULES)
    for _ in range(5):
        breaker.failed(0.0)
    assert breaker.available(5.0)
    breaker.begin(5.0)
    assert not breaker.available(5.0)
    breaker.abandoned()
    assert breaker.available(5.0)
    breaker.begin(5.0)
    breaker.succeeded(5.5)
    assert breaker.available(5.5)
    breaker.begin(5.5)
    assert breaker.available(5.5)


def test_cool_downs_double_up_to_a_limit() -> None:
    breaker = CircuitBreaker(RULES)
    for _ in range(4):
        breaker.failed(0.0)
    now, lengths = 0.0, []
    for _ in range(6):
        breaker.begin(now)
        assert breaker.failed(now)
        lengths.append(breaker.until - now)
        now = breaker.until
    assert lengths == [5, 10, 20, 40, 60, 60]


def test_a_late_failure_during_a_cool_down_does_not_lengthen_it() -> None:
    breaker = CircuitBreaker(RULES)
    for _ in range(5):
        breaker.failed(0.0)
    assert not breaker.failed(1.0)
    assert breaker.until == 5.0
