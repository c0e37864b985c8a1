"""One upstream request, and all of those that are made for one request of a client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from moongate.errors import BadUpstream, GatewayError, TooManyRequests, UpstreamRefused
from moongate.gateway.http.upstream_errors import (
    MIN_RETRY_AFTER,
    AnswerableRefusal,
    clamp_retry_after,
    is_failure,
    is_quota,
)
from moongate.gateway.routing.circuit_breaker import CircuitBreaker
from moongate.gateway.routing.provider_keys import KeyRing, ProviderKeyState
from moongate.net.deadlines import Deadlines

KEY_COOL_DOWN: Final = 60.0  # seconds that a key is avoided after the provider refused the key itself
# Outcomes that are counted by name. A provider's own code may be anything, and a metric must have few labels.
OUTCOMES: Final = frozenset(
    {
        *("address_refused", "bad_http", "certificate", "closed", "compressed", "connect", "connect_timeout", "cut"),
        *("first_timeout", "head_timeout", "no_tls", "proxy", "silence_timeout", "status", "too_large"),
        *("unknown_host", "web_page", "whole_timeout"),
    }
)


@dataclass(slots=True)
class TargetHealth:
    """The state that all attempts at one target share: its circuit breaker and its keys."""

    breaker: CircuitBreaker
    keys: KeyRing
    on_cool_down: Callable[[float], None] = lambda _: None  # a cool-down of so many seconds began
    on_attempt: Callable[[str], None] = lambda _: None  # one attempt ended
    in_flight: int = 0  # attempts that have not ended, in this worker


class Attempt:
    """One upstream request. Its outcome is recorded once: the first of `succeeded`, `failed`, `abandoned` counts."""

    __slots__ = ("_health", "_run", "deadlines", "index", "key", "settled")

    def __init__(self, run: AttemptRun, index: int, key: ProviderKeyState, deadlines: Deadlines) -> None:
        self._run = run
        self._health = run.targets[index]
        self.settled = False
        self.index = index  # of the target among those of the route
        self.key = key
        self.deadlines = deadlines

    @property
    def number(self) -> int:
        """The upstream requests so far, this one included."""
        return self._run.sent

    @property
    def due(self) -> float:
        """When the request must be over with all its attempts, in monotonic time."""
        return self._run.end

    def may_resend(self) -> bool:
        """Called if a reused connection was dead. True: the request may be sent once more, which is counted."""
        if self._run.sent >= self._run.max_sends:
            return False
        self._run.sent += 1
        return True

    def succeeded(self) -> None:
        """The provider has begun to answer."""
        if not self.settled:
            self.settled = True
            self._health.breaker.succeeded(monotonic())
            self._health.on_attempt("ok")

    def failed(self, error: GatewayError) -> None:
        """A refusal (400, 404 …) shows that the target works; an error of the gateway itself shows nothing about it."""
        if self.settled:
            return
        self.settled = True
        if not isinstance(error, BadUpstream):
            self._health.breaker.abandoned()
            return
        if not is_failure(error):
            self._health.breaker.succeeded(monotonic())
        elif self._health.breaker.failed(now := monotonic()):
            self._health.on_cool_down(self._health.breaker.until - now)
        self._health.on_attempt(error.code if error.code in OUTCOMES else str(error.status))

    def abandoned(self) -> None:
        """Cancelled: the attempt says nothing about the target."""
        self.settled = True
        self._health.breaker.abandoned()
        self._health.on_attempt("client_left")


Call = Callable[[Attempt], Awaitable[None]]


class AttemptRun:
    """The attempts of one client request."""

    __slots__ = ("call", "deadlines", "end", "max_sends", "max_tries", "sent", "targets")

    def __init__(
        self, targets: Sequence[TargetHealth], call: Call, deadlines: Deadlines, end: float, max_tries: int
    ) -> None:
        self.targets = targets
        self.call = call
        self.deadlines = deadlines
        self.end = end
        self.max_tries = max_tries
        self.max_sends = max_tries
        self.sent = 0

    async def attempt(self, index: int, deadlines: Deadlines, now: float) -> GatewayError | None:
        """One attempt at the target with this index; its error, or None."""
        health = self.targets[index]
        self.sent += 1
        try:
            key = health.keys.acquire(now)
        except TooManyRequests as error:
            return error.without_frames()
        attempt = Attempt(self, index, key, deadlines)
        health.breaker.begin(now)
        health.in_flight += 1
        try:
            await self.call(attempt)
        except GatewayError as error:
            attempt.failed(error)
            _cool_key(health.keys, key, error, now)
            return error.without_frames()
        else:
            attempt.succeeded()
            return None
        finally:
            if not attempt.settled:
                attempt.abandoned()
            health.in_flight -= 1
            health.keys.release(key)

    async def again(self, index: int) -> GatewayError | None:
        """An attempt after the first, and further ones at once while the refusals of this target teach rules."""
        now = monotonic()
        error = await self.attempt(index, replace(self.deadlines, total=self.end - now), now)
        return await self.answer(index, error)

    async def answer(self, index: int, error: GatewayError | None) -> GatewayError | None:
        while isinstance(error, AnswerableRefusal) and self.sent < self.max_tries and (now := monotonic()) < self.end:
            error = await self.attempt(index, replace(self.deadlines, total=self.end - now), now)
        return error


def _cool_key(keys: KeyRing, key: ProviderKeyState, error: GatewayError, now: float) -> None:
    if not isinstance(error, UpstreamRefused):
        return
    if error.status in (401, 402, 403) or is_quota(error):
        keys.cool(key, now + KEY_COOL_DOWN)
    elif error.status == 429:
        keys.cool(key, now + clamp_retry_after(error.retry_after or MIN_RETRY_AFTER))
