"""Tries, retries and fallbacks, all before the first byte of an answer.

At most `attempts` upstream requests for one client request, over one deadline; when a model has fallbacks, each of
them keeps one attempt in reserve. Waiting obeys the provider's Retry-After up to a limit; past that the error (with
its Retry-After) goes to the client, or the next target is asked at once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from time import monotonic
from typing import Final

from moongate.errors import BadUpstream, GatewayError, TooManyRequests, UpstreamRefused
from moongate.gateway.config.settings import Retries
from moongate.gateway.health import Budget, Health, Key, KeyRing
from moongate.gateway.refusals import SHORTEST, clamped, is_failure, is_quota, may_fall_back, may_retry
from moongate.net.deadlines import Deadlines

KEY_REFUSED: Final = 60.0  # seconds that a key rests after the provider refused the key itself
# The codes of our own errors. A provider's code may be anything, and what is counted must have few names.
OUTCOMES: Final = frozenset(
    {
        *("address_refused", "bad_http", "closed", "compressed", "connect", "connect_timeout", "cut", "first_timeout"),
        *("head_timeout", "proxy", "silence_timeout", "status", "too_large", "whole_timeout"),
    }
)


@dataclass(slots=True)
class Lane:
    """What the attempts at one target share."""

    health: Health
    keys: KeyRing
    cooled: Callable[[], None] = lambda: None  # a cool-down began
    tried: Callable[[str], None] = lambda _: None  # one attempt ended


class Try:
    """One attempt. `good()` once the provider has begun to answer well."""

    __slots__ = ("_lane", "deadlines", "index", "key", "number", "settled")

    def __init__(self, lane: Lane, index: int, number: int, key: Key, deadlines: Deadlines) -> None:
        self._lane = lane
        self.settled = False
        self.index = index  # of the target among those of the route
        self.number = number  # 1 is the first attempt of the request
        self.key = key
        self.deadlines = deadlines

    def good(self) -> None:
        if not self.settled:
            self.settled = True
            self._lane.health.succeeded(monotonic())
            self._lane.tried("ok")

    def bad(self, error: GatewayError) -> None:
        """An error. An answer that refuses says that the target is well, an error of our own says nothing about it."""
        if self.settled:
            return
        self.settled = True
        if not isinstance(error, BadUpstream):
            self._lane.health.abandoned()
            return
        if not is_failure(error):
            self._lane.health.succeeded(monotonic())
        elif self._lane.health.failed(monotonic()):
            self._lane.cooled()
        self._lane.tried(error.code if error.code in OUTCOMES else str(error.status))

    def dropped(self) -> None:
        """Cancelled: nothing was learned."""
        self.settled = True
        self._lane.health.abandoned()
        self._lane.tried("client_left")


Call = Callable[[Try], Awaitable[None]]


class Attempts:
    """Shared by all requests of a worker."""

    def __init__(self, rules: Retries, in_flight: Callable[[], int]) -> None:
        self._rules = rules
        self._in_flight = in_flight
        self._budget = Budget(rules)

    def inherit(self, old: Attempts) -> None:
        """Go on counting where it was: retries that began before go on too. Only while there is none here."""
        self._budget = old._budget
        self._budget.rules = self._rules

    async def run(self, lanes: Sequence[Lane], call: Call, deadlines: Deadlines) -> None:
        """Call until it works. `call` raises only what happened before the client got a byte."""
        now = monotonic()
        order = (0,) if len(lanes) == 1 else _order(lanes, now)
        error = await self._once(lanes[order[0]], order[0], 1, call, deadlines, now)
        if error is not None:
            await self._again(lanes, self._plan(order), error, call, deadlines, now + deadlines.whole)

    async def _again(
        self,
        lanes: Sequence[Lane],
        plan: Sequence[int],
        error: GatewayError,
        call: Call,
        deadlines: Deadlines,
        end: float,
    ) -> None:
        """The rest of the plan; its first attempt has just ended with `error`."""
        if len(plan) < 2 or not self._budget.allows(self._in_flight()):
            raise error
        self._budget.retrying += 1
        tries = 1
        try:
            for before, index in pairwise(plan):
                lane = lanes[index]
                wait = 0.0
                if index == before:
                    wait = self._wait(error, lane, tries, monotonic())
                elif not may_fall_back(error):
                    raise error
                if monotonic() + wait >= end:
                    continue  # no time for this one; a fallback does not wait
                await asyncio.sleep(wait)
                rest = replace(deadlines, whole=end - monotonic())
                tries += 1
                failed = await self._once(lane, index, tries, call, rest, monotonic())
                if failed is None:
                    return
                error = failed
            raise error
        finally:
            self._budget.retrying -= 1

    def _plan(self, order: Sequence[int]) -> list[int]:
        """The target of each attempt in turn; every fallback keeps one in reserve."""
        plan: list[int] = []
        for place, index in enumerate(order):
            reserved = len(order) - place - 1
            tries = min(self._rules.retries + 1, self._rules.attempts - len(plan) - reserved)
            plan += [index] * max(1, tries)
        return plan[: self._rules.attempts]

    async def _once(
        self, lane: Lane, index: int, number: int, call: Call, deadlines: Deadlines, now: float
    ) -> GatewayError | None:
        try:
            key = lane.keys.take(now)
        except TooManyRequests as busy:
            return busy
        attempt = Try(lane, index, number, key, deadlines)
        lane.health.begin(now)
        try:
            await call(attempt)
        except GatewayError as error:
            attempt.bad(error)
            _cool_key(lane.keys, key, error, now)
            return error
        else:
            attempt.good()
            return None
        finally:
            if not attempt.settled:
                attempt.dropped()
            lane.keys.give_back(key)

    def _wait(self, error: GatewayError, lane: Lane, retry: int, now: float) -> float:
        """Seconds before the same target is asked again; infinite: not again."""
        if not may_retry(error):
            return inf
        if error.status == 429 and lane.keys.ready(now):
            return 0.0
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self._rules.obey else inf
        # Jitter, so that clients that failed together do not come back together.
        return self._rules.backoff * float(1 << (retry - 1)) * random.uniform(0.5, 1.0)


def _order(lanes: Sequence[Lane], now: float) -> list[int]:
    """The targets that are well, in the order of the configuration; if none is, the one that is ready first."""
    well = [index for index, lane in enumerate(lanes) if lane.health.available(now)]
    return well or [min(range(len(lanes)), key=lambda index: lanes[index].health.until)]


def _cool_key(keys: KeyRing, key: Key, error: GatewayError, now: float) -> None:
    if not isinstance(error, UpstreamRefused):
        return
    if error.status in (401, 402, 403) or is_quota(error):
        keys.cool(key, now + KEY_REFUSED)
    elif error.status == 429:
        keys.cool(key, now + clamped(error.retry_after or SHORTEST))
