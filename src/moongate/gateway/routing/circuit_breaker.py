"""The circuit breaker of one target: when a provider's model fails too often, requests avoid it for a while.

The breaker opens after a number of consecutive failures, or when more than half of at least ten answers of the last
half minute failed. The cool-down lasts 5 s and doubles up to 60 s; when it is over, one request goes ahead as a probe.
Clocks are passed in.
"""

from __future__ import annotations

from typing import Final

from moongate.gateway.config.limit_settings import Retries

WINDOW_SECONDS: Final = 30.0
BUCKETS: Final = 6  # the window moves on by one bucket at a time
MIN_SAMPLES: Final = 10  # answers in the window before their share of failures counts


class CircuitBreaker:
    """Decides whether requests may go to one target."""

    __slots__ = (
        *("_bucket", "_bucket_ends", "_consecutive_failures", "_cool_down", "_failures", "_probing", "_successes"),
        *("_until", "rules"),
    )

    def __init__(self, rules: Retries) -> None:
        self.rules = rules
        self._consecutive_failures = 0
        self._until = 0.0
        self._cool_down = 0.0  # seconds of the current or last cool-down; 0 while the breaker is closed
        self._probing = False
        self._bucket = 0
        self._bucket_ends = 0.0
        self._successes = [0] * BUCKETS
        self._failures = [0] * BUCKETS

    def available(self, now: float) -> bool:
        """May a request go there? Not during a cool-down; afterwards one probe at a time."""
        return not self._cool_down or (now >= self._until and not self._probing)

    @property
    def until(self) -> float:
        """When the cool-down ends (in the past if there is none)."""
        return self._until

    def begin(self, now: float) -> None:
        """A request goes there now; `succeeded`, `failed` or `abandoned` must follow."""
        if self._cool_down and now >= self._until:
            self._probing = True

    def succeeded(self, now: float) -> None:
        self._consecutive_failures = 0
        if self._cool_down:
            self._reset()
        if now >= self._bucket_ends:
            self._advance(now)
        self._successes[self._bucket % BUCKETS] += 1

    def failed(self, now: float) -> bool:
        """True if a cool-down begins with this failure."""
        self._probing = False
        self._consecutive_failures += 1
        self._advance(now)
        self._failures[self._bucket % BUCKETS] += 1
        if now < self._until or not self._must_open():
            return False
        self._cool_down = min(self._cool_down * 2 or self.rules.cool_down, self.rules.cool_down_most)
        self._until = now + self._cool_down
        return True

    def cool(self, seconds: float, now: float) -> None:
        """Another gateway has found that the target fails."""
        if now + seconds > self._until:
            self._cool_down = max(self._cool_down, min(seconds, self.rules.cool_down_most))
            self._until = now + self._cool_down

    def abandoned(self) -> None:
        """The client disconnected: the request says nothing about the target."""
        self._probing = False

    def _must_open(self) -> bool:
        successes, failures = sum(self._successes), sum(self._failures)
        mostly_failing = successes + failures >= MIN_SAMPLES and failures > successes
        return bool(self._cool_down) or self._consecutive_failures >= self.rules.failures or mostly_failing

    def _reset(self) -> None:
        self._cool_down = self._until = 0.0
        self._probing = False
        self._successes = [0] * BUCKETS
        self._failures = [0] * BUCKETS

    def _advance(self, now: float) -> None:
        """Drop the counts that are older than the window."""
        bucket = int(now * BUCKETS / WINDOW_SECONDS)
        for old in range(self._bucket + 1, min(bucket, self._bucket + BUCKETS) + 1):
            self._successes[old % BUCKETS] = self._failures[old % BUCKETS] = 0
        self._bucket = max(bucket, self._bucket)
        self._bucket_ends = (self._bucket + 1) * WINDOW_SECONDS / BUCKETS
