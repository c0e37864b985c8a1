"""The figures of a scenario, and their limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.support.system_packages import is_ci


@dataclass(frozen=True, slots=True)
class Figure:
    """`least` and `most` are the limits; a figure without them is only reported."""

    name: str
    value: float
    unit: str = ""
    most: float = math.inf
    least: float = -math.inf

    @property
    def good(self) -> bool:
        return self.least <= self.value <= self.most

    def row(self) -> str:
        allowed = ""
        if self.most == self.least:
            allowed = f"= {_number(self.most)}"
        elif self.most < math.inf:
            allowed = f"≤ {_number(self.most)}"
        elif self.least > -math.inf:
            allowed = f"≥ {_number(self.least)}"
        value = f"{_number(self.value)} {self.unit}".strip()
        return f"| {self.name} | {value} | {allowed} | {'yes' if self.good else 'NO'} |"


@dataclass(frozen=True, slots=True)
class Report:
    name: str
    figures: tuple[Figure, ...]
    skipped: str = ""

    @property
    def good(self) -> bool:
        return all(figure.good for figure in self.figures) and not (self.skipped and is_ci())

    def table(self) -> str:
        if self.skipped:
            return f"left out: {self.name}: {self.skipped}\n"
        rows = "\n".join(figure.row() for figure in self.figures)
        return f"**{self.name}**\n\n| figure | found | allowed | good |\n|---|---|---|---|\n{rows}\n"


def percentile(values: Iterable[float], share: float) -> float:
    """0 if there are none."""
    ordered: Sequence[float] = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if value == int(value) or value >= 100 else f"{value:.3g}"
