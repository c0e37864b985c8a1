"""The figures of a run: one sample per round, their median, and ratios taken round by round.

Within a round all contenders follow one another at once, so that a busy machine disturbs both sides of a ratio alike.
A contender that runs twice (`AGAIN`) shows what is noise: how far two processes of one build lie apart in one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from bench.contenders import AGAIN

Figures = Mapping[str, Mapping[str, float]]

# Which of nginx's figures one is held against, where nginx has none of its own.
AGAINST = {"chunk": "CPU µs per chunk", "request": "CPU µs per request"}


class Samples:
    """Samples by contender and figure."""

    def __init__(self, known: Mapping[str, Mapping[str, list[float]]] | None = None) -> None:
        self.values: dict[str, dict[str, list[float]]] = {name: dict(each) for name, each in (known or {}).items()}

    def add(self, name: str, figure: str, value: float) -> None:
        self.values.setdefault(name, {}).setdefault(figure, []).append(value)

    def names(self) -> list[str]:
        """The contenders, each once."""
        return [name for name in self.values if not name.endswith(AGAIN)]

    def median(self, name: str, figure: str) -> float | None:
        found = self.values.get(name, {}).get(figure)
        return median(found) if found else None

    def ratio(self, name: str, figure: str, base: str = "nginx") -> float | None:
        """How many times the base's, as the median of the rounds."""
        ours, theirs = (
            self.values.get(name, {}).get(figure),
            self.values.get(base, {}).get(yardstick(figure, self, base)),
        )
        if not ours or not theirs or min(theirs) <= 0:
            return None
        if len(ours) != len(theirs):
            return median(ours) / median(theirs)
        return median(our / their for our, their in zip(ours, theirs, strict=True))

    def spread(self, name: str, figure: str, base: str = "nginx") -> float | None:
        """How far the second process of a contender lies from the first, as a share of it: their ratios to the base
        where that is how they are shown, else the figures themselves."""
        first, second = self.median(name, figure), self.median(name + AGAIN, figure)
        if figure.startswith("CPU") and base in self.values:
            other = base + AGAIN if base + AGAIN in self.values else base
            first, second = self.ratio(name, figure, base), self.ratio(name + AGAIN, figure, other)
        return None if not first or not second else abs(second / first - 1)

    def medians(self) -> dict[str, dict[str, float]]:
        return {name: {figure: median(each) for figure, each in self.values[name].items()} for name in self.values}


def yardstick(figure: str, samples: Samples, base: str) -> str:
    if figure not in samples.values.get(base, {}):
        for kind, known in AGAINST.items():
            if figure.startswith(f"CPU µs per {kind}"):
                return known
    return figure
