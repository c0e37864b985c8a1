"""Rates with their intervals. Pure.

`tool_call_f1` and `schema_accuracy` are those of Moonshot's K2-Vendor-Verifier.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

from moongate.payload import JsonObject

Z: Final = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """`hits` of `of`; the value is None if there is nothing to count.

    >>> [round(end, 4) for end in MeasuredRate(72, 100).interval]
    [0.6251, 0.7986]
    """

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.hits, self.of)

    def as_json(self) -> JsonObject:
        return {"value": self.value, "interval": list(self.interval), "hits": self.hits, "of": self.of}


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The Wilson score interval for a share of 95 %; everything is possible where nothing was counted."""
    if of == 0:
        return 0.0, 1.0
    share, z2 = hits / of, Z * Z
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = Z / (1 + z2 / of) * sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    low = 0.0 if hits == 0 else middle - half
    high = 1.0 if hits == of else middle + half
    return low, high


@dataclass(frozen=True, slots=True)
class Triggers:
    """Who called where it was due: `both` (TP), `needless` (FP), `missed` (FN), `neither` (TN)."""

    both: int = 0
    needless: int = 0
    missed: int = 0
    neither: int = 0

    def plus(self, *, called: bool, due: bool) -> Triggers:
        return Triggers(
            self.both + (called and due),
            self.needless + (called and not due),
            self.missed + (due and not called),
            self.neither + (not called and not due),
        )

    @property
    def precision(self) -> MeasuredRate:
        return MeasuredRate(self.both, self.both + self.needless)

    @property
    def recall(self) -> MeasuredRate:
        return MeasuredRate(self.both, self.both + self.missed)

    @property
    def f1(self) -> float | None:
        """2 · precision · recall / (precision + recall)."""
        total = 2 * self.both + self.needless + self.missed
        return 2 * self.both / total if total else None

    @property
    def f1_interval(self) -> tuple[float, float]:
        """F1 is 2 J / (1 + J), where J is the share of agreement among the turns in which either called. J is a plain
        share, and so has a Wilson interval; the same formula makes it one of F1."""
        low, high = wilson(self.both, self.both + self.needless + self.missed)
        return 2 * low / (1 + low), 2 * high / (1 + high)

    def f1_json(self) -> JsonObject:
        total = self.both + self.needless + self.missed
        return {"value": self.f1, "interval": list(self.f1_interval), "hits": self.both, "of": total}
