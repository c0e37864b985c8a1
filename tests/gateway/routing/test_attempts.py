from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from moongate.errors import BadRequest, BadUpstream, GatewayError, Overloaded, UpstreamRefused, UpstreamTimeout
from moongate.gateway.config.limit_settings import Retries
from moongate.gateway.config.settings import ProviderKey
from moongate.gateway.http.upstream_errors import AnswerableRefusal
from moongate.gateway.routing.attempt import Attempt, TargetHealth
from moongate.gateway.routing.attempts import Attempts, RetryBudget
from moongate.gateway.routing.circuit_breaker import CircuitBreaker
from moongate.gateway.routing.provider_keys import KeyRing
from moongate.net.deadlines import Deadlines

RULES = Retries(backoff=0.0)
OVERLOADED = UpstreamRefused("busy", status=503)
LIMITED = UpstreamRefused("slow down", status=429, retry_after=0.0)
REFUSED = UpstreamRefused("bad request", status=400)
ANSWERED = AnswerableRefusal("invalid temperature", status=400)
LOST = BadUpstream("lost", code="closed")
LATE = UpstreamTimeout("late", code="head_timeout")


class Script:
    """The outcomes of attempts in order (None is success). Records which target was asked."""

    def __init__(self, *answers: GatewayError | None, targets: int = 1, keys: int = 1, rules: Retries = RULES) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []
        self.keys: list[bytes] = []
        self.outcomes: list[str] = []
        self.totals: list[float] = []
        self.in_flight = 0
        self.number = 0
        provider_keys = [ProviderKey(key=f"k{n}") for n in range(keys)]
        self.targets = [
            TargetHealth(CircuitBreaker(rules), KeyRing(provider_keys), lambda _: None, self.outcomes.append)
            for _ in range(targets)
        ]
        self.attempts = Attempts(rules, lambda: self.in_flight)

    async def call(self, attempt: Attempt) -> None:
        self.asked.append(attempt.index)
        self.keys.append(attempt.key.header)
        self.totals.append(attempt.deadlines.total)
        self.number += 1
        assert attempt.number == self.number
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer

    def run(self, deadlines: Deadlines | None = None, before: int = 0) -> GatewayError | None:
        self.number = 0

        async def go() -> None:
            await self.attempts.run(self.targets, self.call, deadlines or Deadlines(), before)

        try:
            asyncio.run(go())
        except GatewayError as error:
            return error
        return None


@pytest.mark.parametrize(
    ("answers", "asked", "ended"),
    [
        ([None], 1, None),
        ([OVERLOADED, None], 2, None),
        ([LOST, OVERLOADED, None], 3, None),
        ([LOST, LOST, LOST], 3, LOST),
        ([LIMITED, None], 2, None),
        ([REFUSED], 1, REFUSED),
        ([OVERLOADED, REFUSED], 2, REFUSED),
        ([LATE], 1, LATE),
        ([BadRequest("ours")], 1, BadRequest),
        ([UpstreamRefused("insufficient balance", status=429)], 1, UpstreamRefused),
        ([UpstreamRefused("later", status=429, retry_after=11)], 1, UpstreamRefused),
    ],
)
def test_one_target(answers: Sequence[GatewayError | None], asked: int, ended: object) -> None:
    script = Script(*answers)
    error = script.run()
    assert len(script.asked) == asked
    assert error is ended or (isinstance(ended, type) and isinstance(error, ended))


@pytest.mark.parametrize(
    ("targets", "answers", "asked"),
    [
        (2, [LOST, LOST, None], [0, 0, 1]),
        (3, [LOST, LOST, None], [0, 1, 2]),
        (2, [LATE, None], [0, 1]),
        (2, [UpstreamRefused("no money", status=402), None], [0, 1]),
        (2, [UpstreamRefused("later", status=429, retry_after=60), None], [0, 1]),
        (4, [LOST, LOST, LOST], [0, 1, 2]),
        (2, [REFUSED], [0]),
    ],
)
def test_fallbacks(targets: int, answers: list[GatewayError | None], asked: list[int]) -> None:
    script = Script(*answers, targets=targets)
    script.run()
    assert script.asked == asked


def test_a_cooling_target_is_skipped_unless_no_other_is_available() -> None:
    script = Script(None, None, targets=2)
    for _ in range(5):
        script.targets[0].breaker.failed(0.0)
    script.targets[0].breaker._until = 1e12
    script.run()
    assert script.asked == [1]
    script.targets[1].breaker._cool_down, script.targets[1].breaker._until = 5.0, 2e12
    script.run()
    assert script.asked == [1, 0]


def test_a_rate_limited_key_is_replaced_by_the_next() -> None:
    script = Script(UpstreamRefused("slow", status=429, retry_after=50), None, keys=2)
    assert script.run() is None
    assert len(set(script.keys)) == 2


def test_a_refused_key_cools_down() -> None:
    script = Script(UpstreamRefused("bad key", status=401), None, None, keys=2)
    script.run()
    script.run()
    script.run()
    assert script.keys[1] == script.keys[2] != script.keys[0]


def test_keys_at_their_limit_give_429() -> None:
    script = Script(rules=Retries(backoff=0, retries=0))
    script.targets[0].keys = KeyRing([ProviderKey(key="k", concurrency=1)])
    script.targets[0].keys.acquire(0.0)
    error = script.run()
    assert error is not None
    assert error.status == 429


def test_the_budget_stops_retries() -> None:
    script = Script(LOST, None)
    script.attempts._budget.retrying = 3
    assert script.run() is LOST
    script = Script(LOST, None)
    script.attempts._budget.retrying = 3
    script.in_flight = 100
    assert script.run() is None
    assert script.attempts._budget.retrying == 3


def test_retries_from_before_a_reload_count_in_the_new_budget() -> None:
    old, new = Script(LOST, None), Script(LOST, None, LOST, rules=Retries(backoff=0.0, budget_floor=1))
    new.attempts.inherit(old.attempts)
    assert new.run() is None

    async def fail_elsewhere(_: Attempt) -> None:
        assert await asyncio.to_thread(new.run) is LOST  # while a request of the old state is being retried

    async def go() -> None:
        tries = iter((old.call, fail_elsewhere))
        await old.attempts.run(old.targets, lambda attempt: next(tries)(attempt), Deadlines())

    asyncio.run(go())
    assert new.asked == [0, 0, 0]
    assert new.attempts._budget.retrying == 0


def test_one_deadline_covers_all_attempts() -> None:
    script = Script(UpstreamRefused("wait", status=503, retry_after=9), None)
    error = script.run(Deadlines(total=5))
    assert error is not None
    assert error.retry_after == 9
    script = Script(LOST, None)
    script.run(Deadlines(total=5))
    assert script.totals[0] == 5
    assert script.totals[1] <= 5


def test_outcomes_are_reported() -> None:
    script = Script(LOST, LIMITED, None)
    script.run()
    assert script.outcomes == ["closed", "429", "ok"]


@pytest.mark.parametrize("error", [BadRequest("ours"), Overloaded("ours", code="pool_full")])
def test_an_error_of_our_own_says_nothing_about_the_target(error: GatewayError) -> None:
    """Otherwise bad requests of a client would end the cool-down of a target that is down."""
    script = Script(*([error] * 3))
    breaker = script.targets[0].breaker
    for _ in range(5):
        breaker.failed(0.0)
    script.run()
    assert not breaker.available(1.0)
    assert breaker.available(5.0)
    assert script.outcomes == []


def test_cancellation_says_nothing_about_the_target() -> None:
    script = Script()

    async def go() -> None:
        async def never(attempt: Attempt) -> None:
            await asyncio.sleep(3600)

        task = asyncio.create_task(script.attempts.run(script.targets, never, Deadlines()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert script.outcomes == ["client_left"]
    assert script.targets[0].keys.acquire(0.0).in_flight == 1


def test_a_cool_down_is_reported_once() -> None:
    cool_downs: list[int] = []
    script = Script(*([LOST] * 6))
    script.targets[0].on_cool_down = lambda _: cool_downs.append(1)
    script.run()
    script.run()
    assert cool_downs == [1]


@pytest.mark.parametrize(
    ("retrying", "in_flight", "allowed"), [(0, 0, True), (2, 1, True), (3, 10, False), (3, 16, True), (20, 100, False)]
)
def test_the_retry_budget_is_a_share_with_a_floor(retrying: int, in_flight: int, allowed: bool) -> None:
    budget = RetryBudget(RULES)
    budget.retrying = retrying
    assert budget.allows(in_flight) is allowed


@pytest.mark.parametrize(
    ("answers", "asked", "ended"),
    [
        ([ANSWERED, None], 2, None),
        ([ANSWERED, ANSWERED, None], 3, None),
        ([ANSWERED, ANSWERED, ANSWERED], 3, ANSWERED),
        ([ANSWERED, REFUSED], 2, REFUSED),
        ([LOST, ANSWERED, None], 3, None),
        ([LOST, LOST, ANSWERED], 3, ANSWERED),
        ([ANSWERED, LOST, None], 3, None),
        ([ANSWERED, ANSWERED, LOST], 3, LOST),
        ([ANSWERED, LOST, LOST], 3, LOST),
    ],
)
def test_a_resend_is_one_of_the_attempts(
    answers: Sequence[GatewayError | None], asked: int, ended: GatewayError | None
) -> None:
    script = Script(*answers)
    assert script.run() is ended
    assert len(script.asked) == asked


def test_a_resend_needs_neither_retries_nor_their_budget() -> None:
    rules = Retries(backoff=0.0, retries=0, budget=0.0, budget_floor=0)
    assert Script(ANSWERED, None, rules=rules).run() is None
    assert Script(ANSWERED, rules=Retries(attempts=1)).run() is ANSWERED


def test_a_resend_goes_to_the_same_target_within_the_deadline() -> None:
    script = Script(LATE, ANSWERED, None, targets=2)
    assert script.run(Deadlines(total=100.0)) is None
    assert script.asked == [0, 1, 1]
    assert max(script.totals) <= 100.0
    assert Script(ANSWERED).run(Deadlines(total=0.0)) is ANSWERED


@pytest.mark.parametrize(("before", "asked"), [(0, 3), (1, 2), (2, 1), (3, 1), (999, 1)])
def test_the_retries_of_an_sdk_count(before: int, asked: int) -> None:
    script = Script(LOST, LOST, LOST)
    assert script.run(before=before) is LOST
    assert len(script.asked) == asked


def test_a_fallback_is_still_asked_if_an_sdk_has_retried() -> None:
    script = Script(LOST, LOST, None, targets=3)
    script.run(before=1)
    assert script.asked == [0, 1]


@pytest.mark.parametrize(("attempts", "before", "sent"), [(3, 0, 3), (2, 0, 2), (1, 0, 2), (3, 1, 2), (3, 2, 1)])
def test_resends_over_dead_connections_count(attempts: int, before: int, sent: int) -> None:
    """Every connection that is reused is dead."""
    script = Script(rules=Retries(backoff=0, attempts=attempts))
    requests = 0

    async def call(attempt: Attempt) -> None:
        nonlocal requests
        requests += 1
        while attempt.may_resend():
            requests += 1
            assert attempt.number == requests
        raise LOST

    with pytest.raises(BadUpstream):
        asyncio.run(script.attempts.run(script.targets, call, Deadlines(), before))
    assert requests == sent
