"""Ids of usage rows: unique without asking anybody, in the order of time, and they hold the time.

    microseconds since 2025-01-01 UTC (51 bits) | node (6 bits) | worker (6 bits)

A node and worker hold their numbers alone (see `journal`), and a worker never gives the same microsecond twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

EPOCH: Final = 1_735_689_600  # 2025-01-01 in seconds since 1970
NUMBER_BITS: Final = 12
MAX_WORKERS: Final = 64
MAX_NODES: Final = 64
_DAY: Final = 86_400
_EPOCH_DAY: Final = EPOCH // _DAY


class RowIds:
    """Gives ids that only grow, also when the clock goes back."""

    __slots__ = ("_clock", "_last", "_number")

    def __init__(self, worker: int, node: int = 0, clock: Callable[[], int] = time.time_ns) -> None:
        self._number = node * MAX_WORKERS + worker
        self._clock = clock
        self._last = 0

    def take(self) -> int:
        now = self._clock() // 1000 - EPOCH * 1_000_000
        if now <= self._last:
            now = self._last + 1
        self._last = now
        return now << NUMBER_BITS | self._number


def time_of(row_id: int) -> float:
    """In seconds since 1970."""
    return (row_id >> NUMBER_BITS) / 1e6 + EPOCH


def day_of_row(row_id: int) -> int:
    """The UTC day, counted from 1970."""
    return (row_id >> NUMBER_BITS) // (_DAY * 1_000_000) + _EPOCH_DAY


def first_row_of(day: int) -> int:
    """The smallest id of a day."""
    return ((day - _EPOCH_DAY) * _DAY * 1_000_000) << NUMBER_BITS
