"""GCRA, the generic cell rate algorithm: a rate limit whose whole state is one number.

The number is the theoretical arrival time (TAT): when the bucket will be full again. A request that costs `n` moves it
by `n` intervals; it is refused if the TAT would be further away than the window. Times are integers in nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MINUTE: Final = 60_000_000_000


@dataclass(frozen=True, slots=True)
class Rate:
    """`limit` units per minute, all of which may come at once."""

    limit: int

    def cost(self, units: int) -> int:
        """How far `units` move the TAT."""
        return int(units * (MINUTE / self.limit))  # the product of two integers is too large for one machine word

    def take(self, tat: int, now: int, units: int = 1) -> int:
        """The new TAT, or minus the nanoseconds to wait.

        More units than the limit are taken when the bucket is full, and what is too much is paid off by waiting:
        otherwise a single large request would be refused for ever.
        """
        start = max(tat, now)
        cost = self.cost(units)
        wait = start + min(cost, MINUTE) - now - MINUTE
        return start + cost if wait <= 0 else -wait

    def remaining(self, tat: int, now: int) -> int:
        """How many units would be taken now, at most the limit."""
        free = MINUTE - max(0, tat - now)
        return max(0, free * self.limit // MINUTE)
