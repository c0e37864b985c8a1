"""A budget of steps, so that no schema costs more than its size allows."""

from __future__ import annotations

from typing import Final

from moongate.chat.contracts import TakesLong

MAX_STEPS: Final = 200_000  # for all tools of a request together
QUICK_STEPS: Final = 8000  # a planned step takes at most 3 µs of CPU time, so this is about 20 ms


class StepsExhausted(Exception):
    """The work was more than the budget allows. Never leaves the package."""


class StepBudget:
    """What is left of a number of steps. A step is a keyword or a list element that is looked at.

    Of a `quick` one nobody gets more at once than can be done between two events.
    """

    __slots__ = ("_quick_left", "left")

    def __init__(self, limit: int = MAX_STEPS, *, quick: bool = False) -> None:
        self.left = limit
        self._quick_left = QUICK_STEPS if quick else None

    def plan(self, count: int) -> None:
        """Announce work that may take several times `count` steps. Raises TakesLong if that is too much for a quick
        budget, together with what was announced before."""
        if self._quick_left is not None:
            self._quick_left -= count
            if self._quick_left < 0:
                raise TakesLong

    def take(self, count: int) -> None:
        """Pay for `count` steps. Raises StepsExhausted if there are not as many."""
        self.left -= count
        if self.left < 0:
            raise StepsExhausted

    def portion(self, limit: int, kept: int = 0) -> StepBudget:
        """At most `limit` steps of this budget, of which `kept` stay; `settle` gives back what is left of them."""
        granted = StepBudget(max(min(limit, self.left - kept), 0))
        self.left -= granted.left
        return granted

    def settle(self, portion: StepBudget) -> None:
        self.left += max(portion.left, 0)
