"""How good the answers of a target are, from the verdicts on its answers to requests with tools.

Counts are decayed by number (half-life 200 answers) and by time (half-life 6 hours), both together. A prior of 20
answers at 95 % keeps a few answers from deciding anything. Targets are compared by the 90 % Wilson intervals of their
scores. Pure: clocks and the place of the counts are passed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final, NamedTuple, TypeAlias

HALF_LIFE_ANSWERS: Final = 200.0
HALF_LIFE_SECONDS: Final = 6 * 3600.0
PRIOR_ANSWERS: Final = 20.0
PRIOR_SCORE: Final = 0.95
Z_90: Final = 1.6448536269514722  # a normal variable is within ±z with a probability of 90 %
# A second, short memory: it notices within some ten answers that a target has broken down.
RECENT_HALF_LIFE: Final = 10.0  # answers
BROKEN_BELOW: Final = 0.5  # share of good answers in the short memory under which a target counts as broken down
MENDED_ABOVE: Final = 0.8  # and above which it no longer does
LATENCY_HALF_LIFE: Final = 20.0  # answers

GOOD: Final = frozenset({"clean", "repaired"})
BAD: Final = frozenset({"damaged", "failed"})  # `aborted` says nothing about the target

_BY_ANSWER: Final = 0.5 ** (1 / HALF_LIFE_ANSWERS)
_RECENT: Final = 0.5 ** (1 / RECENT_HALF_LIFE)
_LATENCY: Final = 0.5 ** (1 / LATENCY_HALF_LIFE)

# Numbers of a target, in one row. All zero means: nothing is known.
_COUNTED, _GOOD, _CLEAN, _WHEN, _RECENT_BAD, _STREAM_SECONDS, _WHOLE_SECONDS = range(7)
ROW: Final = 8

Numbers: TypeAlias = "list[float] | memoryview[float]"


class Quality(NamedTuple):
    """What is known of a target at one moment."""

    score: float  # share of answers that were good, repaired ones included
    low: float  # of the interval
    high: float
    raw: float  # the same share, with repairs counted against the target
    answers: float  # counted, after decay, without the prior
    recent: float  # share of good answers among the last few


def wilson(good: float, counted: float, z: float = Z_90) -> tuple[float, float]:
    """Wilson's score interval of `good` out of `counted` (> 0)."""
    share, square = good / counted, z * z
    middle = share + square / (2 * counted)
    spread = z * sqrt(max(0.0, share * (1 - share) / counted + square / (4 * counted * counted)))
    scale = 1 + square / counted
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


class TargetScore:
    """The decayed counts and latencies of one target, in a row of numbers that workers may share.

    Nothing is locked: of two workers that write at the same moment one may win, and an answer is not counted. Scores
    are estimates; every number is written by one aligned store.
    """

    __slots__ = ("_row",)

    def __init__(self, row: Numbers | None = None) -> None:
        self._row: Numbers = [0.0] * ROW if row is None else row

    def record(self, worth: str, now: float) -> None:
        """Count the verdict on an answer to a request with tools."""
        good = worth in GOOD
        if not good and worth not in BAD:
            return
        row = self._row
        kept = _BY_ANSWER * 0.5 ** (max(0.0, now - row[_WHEN]) / HALF_LIFE_SECONDS)
        row[_WHEN] = now
        row[_COUNTED] = row[_COUNTED] * kept + 1.0
        row[_GOOD] = row[_GOOD] * kept + good
        row[_CLEAN] = row[_CLEAN] * kept + (worth == "clean")
        row[_RECENT_BAD] = row[_RECENT_BAD] * _RECENT + (0.0 if good else 1 - _RECENT)

    def quality(self, now: float) -> Quality:
        row = self._row
        kept = 0.5 ** (max(0.0, now - row[_WHEN]) / HALF_LIFE_SECONDS)
        counted = row[_COUNTED] * kept
        prior = PRIOR_ANSWERS * PRIOR_SCORE
        good, clean = row[_GOOD] * kept + prior, row[_CLEAN] * kept + prior
        of = counted + PRIOR_ANSWERS
        # Each number is read on its own, while another worker may write: the parts need not add up exactly.
        low, high = wilson(min(good, of), of)
        return Quality(min(good / of, 1.0), low, high, min(clean / of, 1.0), counted, 1.0 - row[_RECENT_BAD])

    def record_latency(self, seconds: float, *, streamed: bool) -> None:
        """Count the seconds until an answer began (streamed) or had come (whole)."""
        row, place = self._row, _STREAM_SECONDS if streamed else _WHOLE_SECONDS
        known = row[place]
        row[place] = known * _LATENCY + seconds * (1 - _LATENCY) if known > 0 else seconds

    def latency(self, *, streamed: bool) -> float | None:
        """The decayed mean of the seconds; None if there was no such answer."""
        seconds = self._row[_STREAM_SECONDS if streamed else _WHOLE_SECONDS]
        return seconds if seconds > 0 else None


class QualityRanks:
    """Which targets of a route are as good as its best one. Remembers its judgement, so that none swings to and fro.

    A target falls behind when its interval no longer overlaps that of the best one. It comes back only when its score
    itself, not just the upper end of an interval that grows while nobody asks, has come half of the way from the lower
    end of the best one's interval to its score.
    """

    __slots__ = ("broken", "worse")

    def __init__(self, size: int) -> None:
        self.worse = [False] * size
        self.broken = [False] * size  # most of the last answers were bad: sessions leave the target

    def update(self, qualities: Sequence[Quality]) -> None:
        # One that has broken down is not what the others are measured by.
        for index, each in enumerate(qualities):
            self.broken[index] = each.recent < (MENDED_ABOVE if self.broken[index] else BROKEN_BELOW)
        sound = [each for each, broken in zip(qualities, self.broken, strict=True) if not broken]
        best = max(sound or qualities, key=lambda each: each.score)
        for index, each in enumerate(qualities):
            behind = each.score < (best.low + best.score) / 2 if self.worse[index] else each.high < best.low
            self.worse[index] = self.broken[index] or behind
