"""Limits the requests whose answers are asked for again at the same time, so that a bad vendor causes no storm."""

from __future__ import annotations

from collections.abc import Callable


class GuardBudget:
    """A share of the requests in flight, but always one. One for all requests of a worker."""

    __slots__ = ("_in_flight", "running", "share")

    def __init__(self, share: float, in_flight: Callable[[], int]) -> None:
        self.share = share
        self._in_flight = in_flight
        self.running = 0

    def take(self) -> bool:
        """True: there is a place, and it has to be given back."""
        if self.running >= max(1.0, self.share * self._in_flight()):
            return False
        self.running += 1
        return True

    def give_back(self) -> None:
        self.running -= 1
