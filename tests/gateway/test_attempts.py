from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from moongate.errors import BadRequest, BadUpstream, GatewayError, Overloaded, UpstreamRefused, UpstreamTimeout
from moongate.gateway.attempts import Attempts, Lane, Try
from moongate.gateway.config.settings import ProviderKey, Retries
from moongate.gateway.health import Health, KeyRing
from moongate.net.deadlines import Deadlines

RULES = Retries(backoff=0.0)
OVERLOADED = UpstreamRefused("busy", status=503)
LIMITED = UpstreamRefused("slow down", status=429, retry_after=0.0)
REFUSED = UpstreamRefused("bad request", status=400)
LOST = BadUpstream("lost", code="closed")
LATE = UpstreamTimeout("late", code="head_timeout")


class Script:
    """Answers attempts in turn: None is success. Remembers which target was asked."""

    def __init__(self, *answers: GatewayError | None, targets: int = 1, keys: int = 1, rules: Retries = RULES) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []
        self.keys: list[bytes] = []
        self.outcomes: list[str] = []
        self.wholes: list[float] = []
        self.in_flight = 0
        self.number = 0
        provider_keys = [ProviderKey(key=f"k{n}") for n in range(keys)]
        self.lanes = [
            Lane(Health(rules), KeyRing(provider_keys), lambda: None, self.outcomes.append) for _ in range(targets)
        ]
        self.attempts = Attempts(rules, lambda: self.in_flight)

    async def call(self, attempt: Try) -> None:
        self.asked.append(attempt.index)
        self.keys.append(attempt.key.header)
        self.wholes.append(attempt.deadlines.whole)
        self.number += 1
        assert attempt.number == self.number
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer

    def run(self, deadlines: Deadlines | None = None) -> GatewayError | None:
        self.number = 0

        async def go() -> None:
            await self.attempts.run(self.lanes, self.call, deadlines or Deadlines())

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


def test_a_cooling_target_is_passed_over_but_never_the_last() -> None:
    script = Script(None, None, targets=2)
    for _ in range(5):
        script.lanes[0].health.failed(0.0)
    script.lanes[0].health._until = 1e12
    script.run()
    assert script.asked == [1]
    script.lanes[1].health._cooling, script.lanes[1].health._until = 5.0, 2e12
    script.run()
    assert script.asked == [1, 0]


def test_a_limited_key_gives_way_to_the_next() -> None:
    script = Script(UpstreamRefused("slow", status=429, retry_after=50), None, keys=2)
    assert script.run() is None
    assert len(set(script.keys)) == 2


def test_a_refused_key_rests() -> None:
    script = Script(UpstreamRefused("bad key", status=401), None, None, keys=2)
    script.run()
    script.run()
    script.run()
    assert script.keys[1] == script.keys[2] != script.keys[0]


def test_busy_keys_are_a_429() -> None:
    script = Script(rules=Retries(backoff=0, retries=0))
    script.lanes[0].keys = KeyRing([ProviderKey(key="k", concurrency=1)])
    script.lanes[0].keys.take(0.0)
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


def test_retries_from_before_a_reload_count_after_it_too() -> None:
    old, new = Script(LOST, None), Script(LOST, None, LOST, rules=Retries(backoff=0.0, budget_floor=1))
    new.attempts.inherit(old.attempts)
    assert new.run() is None

    async def fail_elsewhere(_: Try) -> None:
        assert await asyncio.to_thread(new.run) is LOST  # while a request of the old state is being retried

    async def go() -> None:
        tries = iter((old.call, fail_elsewhere))
        await old.attempts.run(old.lanes, lambda attempt: next(tries)(attempt), Deadlines())

    asyncio.run(go())
    assert new.asked == [0, 0, 0]
    assert new.attempts._budget.retrying == 0


def test_one_deadline_covers_all_attempts() -> None:
    script = Script(UpstreamRefused("wait", status=503, retry_after=9), None)
    error = script.run(Deadlines(whole=5))
    assert error is not None
    assert error.retry_after == 9
    script = Script(LOST, None)
    script.run(Deadlines(whole=5))
    assert script.wholes[0] == 5
    assert script.wholes[1] <= 5


def test_outcomes_are_told() -> None:
    script = Script(LOST, LIMITED, None)
    script.run()
    assert script.outcomes == ["closed", "429", "ok"]


@pytest.mark.parametrize("error", [BadRequest("ours"), Overloaded("ours", code="pool_full")])
def test_an_error_of_our_own_says_nothing_about_the_target(error: GatewayError) -> None:
    """Else a client's mistakes would end the cool-down of a target that is down."""
    script = Script(*([error] * 3))
    health = script.lanes[0].health
    for _ in range(5):
        health.failed(0.0)
    script.run()
    assert not health.available(1.0)
    assert health.available(5.0)
    assert script.outcomes == []


def test_cancellation_teaches_nothing() -> None:
    script = Script()

    async def go() -> None:
        async def never(attempt: Try) -> None:
            await asyncio.sleep(3600)

        task = asyncio.create_task(script.attempts.run(script.lanes, never, Deadlines()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert script.outcomes == ["client_left"]
    assert script.lanes[0].keys.take(0.0).in_flight == 1


def test_a_cool_down_is_told_once() -> None:
    cooled: list[int] = []
    script = Script(*([LOST] * 6))
    script.lanes[0].cooled = lambda: cooled.append(1)
    script.run()
    script.run()
    assert cooled == [1]
