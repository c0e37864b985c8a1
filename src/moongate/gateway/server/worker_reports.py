"""What workers report to their parent, in memory that they share: no message can be lost, and nothing can block."""

from __future__ import annotations

import mmap
import time
from typing import Final

_SLOTS: Final = 2  # of a worker: when its loop ran last, and how often it has reloaded


class WorkerReports:
    """Made by the parent before it forks. A worker writes to its own slots alone."""

    def __init__(self, workers: int) -> None:
        self._values = memoryview(mmap.mmap(-1, workers * _SLOTS * 8)).cast("q")
        self._workers = workers

    def of(self, index: int) -> WorkerReport:
        return WorkerReport(self._values, index)

    def reset(self, index: int) -> None:
        """A new worker takes the place of one that has ended."""
        self._values[index * _SLOTS] = 0

    def last_heartbeat(self, index: int) -> float | None:
        """When the worker's loop ran last, by the monotonic clock; None: it has not started yet."""
        return self._values[index * _SLOTS] / 1e9 or None

    def all_started(self) -> bool:
        return all(self._values[index * _SLOTS] for index in range(self._workers))

    def reloads(self) -> list[int]:
        """How often each worker has reloaded, its predecessors included."""
        return [self._values[index * _SLOTS + 1] for index in range(self._workers)]


class WorkerReport:
    """One worker's reports to its parent. Implements `ServerObserver`."""

    def __init__(self, values: memoryview, index: int) -> None:
        self._values = values
        self._heartbeat = index * _SLOTS
        self._reloads = self._heartbeat + 1

    def ready(self) -> None:
        self.heartbeat()

    def heartbeat(self) -> None:
        self._values[self._heartbeat] = time.monotonic_ns()

    def reloading(self) -> None:
        """The parent asked for it."""

    def reloaded(self) -> None:
        self._values[self._reloads] += 1

    def stopping(self) -> None:
        """The parent asked for it, or is dead."""
