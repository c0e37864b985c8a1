"""Attempts, retries and fallbacks, all before the first byte of an answer.

At most `attempts` upstream requests are made for one client request, within one deadline; when a model has fallbacks,
one attempt is reserved for each of them. Resends count, be it with a rule that a refusal taught or because a reused
connection was dead. So do the retries of an SDK, which sends the number of those before this one.

The provider's Retry-After is waited for up to a limit; past that the error (with its Retry-After) goes to the client,
or the next target is asked at once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import monotonic

from moongate.errors import GatewayError
from moongate.gateway.config.limit_settings import Retries
from moongate.gateway.http.upstream_errors import may_fall_back, may_retry
from moongate.gateway.routing.attempt import AttemptRun, Call, TargetHealth
from moongate.gateway.routing.selector import SelectedTarget
from moongate.net.deadlines import Deadlines


class RetryBudget:
    """Limits the retries that run at the same time: a share of the requests in flight, but always a few."""

    __slots__ = ("retrying", "rules")

    def __init__(self, rules: Retries) -> None:
        self.rules = rules
        self.retrying = 0

    def allows(self, in_flight: int) -> bool:
        return self.retrying < max(self.rules.budget_floor, self.rules.budget * in_flight)


class Attempts:
    """Runs attempts by the rules of the configuration. Shared by all requests of a worker."""

    def __init__(self, rules: Retries, in_flight: Callable[[], int]) -> None:
        self._rules = rules
        self._in_flight = in_flight
        self._budget = RetryBudget(rules)

    def inherit(self, old: Attempts) -> None:
        """Keep the old budget, because retries that began before a reload still run. Only while none runs here."""
        self._budget = old._budget
        self._budget.rules = self._rules

    async def run(
        self,
        targets: Sequence[TargetHealth],
        call: Call,
        deadlines: Deadlines,
        before: int = 0,
        selected: SelectedTarget | None = None,
    ) -> None:
        """Make attempts until one succeeds. `call` raises only errors from before the client got a byte.

        `before` is how often the client has sent this request before: each time counts as one attempt. `selected`:
        which target is asked first, and which ones then; without it: in the order of the configuration.
        """
        now = monotonic()
        order: Sequence[int] = (selected.first,) if selected is not None else (0,)
        if selected is None and len(targets) > 1:
            order = _order(targets, now)
        run = AttemptRun(targets, call, deadlines, now + deadlines.total, self._rules.attempts)
        if before:
            run.max_tries = run.max_sends = max(1, run.max_tries - before)
        elif run.max_tries == 1:
            run.max_sends = 2  # a reused connection may be dead at any time, and nobody has retried yet
        error = await run.attempt(order[0], deadlines, now)
        if error is not None:
            error = await run.answer(order[0], error)
            if error is not None:
                if selected is not None:
                    order = (selected.first, *selected.others(monotonic()))
                await self._retry(run, self._plan(order, run.max_tries), error)

    async def _retry(self, run: AttemptRun, plan: Sequence[int], error: GatewayError) -> None:
        """The rest of the plan, of which the first target has just failed with `error`."""
        if len(plan) < 2 or not self._budget.allows(self._in_flight()):
            raise error
        self._budget.retrying += 1
        try:
            for before, index in pairwise(plan):
                if run.sent >= run.max_tries:
                    raise error
                wait: float | None = 0.0
                if index == before:
                    wait = self._wait(error, run.targets[index], run.sent, monotonic())
                elif not may_fall_back(error):
                    raise error
                if wait is None or monotonic() + wait >= run.end:
                    continue  # not this one; a fallback does not wait
                await asyncio.sleep(wait)
                failed = await run.again(index)
                if failed is None:
                    return
                error = failed
            raise error
        finally:
            self._budget.retrying -= 1

    def _plan(self, order: Sequence[int], attempts: int) -> list[int]:
        """The target of each attempt, in order; one attempt is reserved for every fallback."""
        plan: list[int] = []
        for position, index in enumerate(order):
            reserved = len(order) - position - 1
            tries = min(self._rules.retries + 1, attempts - len(plan) - reserved)
            plan += [index] * max(1, tries)
        return plan[:attempts]

    def _wait(self, error: GatewayError, health: TargetHealth, retry: int, now: float) -> float | None:
        """Seconds before the same target is asked again; None: it may not be asked again."""
        if not may_retry(error):
            return None
        if error.status == 429 and health.keys.ready(now):
            return 0.0
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self._rules.obey else None
        # Jitter, so that requests that failed together are not repeated together.
        return self._rules.backoff * float(1 << (retry - 1)) * random.uniform(0.5, 1.0)


def _order(targets: Sequence[TargetHealth], now: float) -> list[int]:
    """The available targets in the order of the configuration; if there is none, the one that is ready first."""
    available = [index for index, health in enumerate(targets) if health.breaker.available(now)]
    return available or [min(range(len(targets)), key=lambda index: targets[index].breaker.until)]
