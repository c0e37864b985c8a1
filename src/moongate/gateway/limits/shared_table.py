"""Rows of 64-bit words that all workers of a machine read and write: one row per key or team.

The rows lie in a file that every worker has mapped. A read-modify-write of words that several workers write happens
under `flock`, which the kernel gives back when a process dies. Words that one worker alone writes (its columns) need no
lock. Every word is written by one aligned store, so a worker that is killed leaves no torn number, and its columns are
cleared by its successor. With a single worker the rows are a list, and nothing is locked.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows: there is one worker, which locks nothing
    fcntl = None  # type: ignore[assignment]

MAX_ROWS: Final = 1 << 16  # keys and teams with limits; only rows in use take memory
LOCK_SECONDS: Final = 0.05  # who waits longer goes on without: a stopped process must not stop the others
IDENTITY_BYTES: Final = 32

# Words of a row. Those before `COLUMNS` are written under the lock.
REQUESTS_TAT, REQUESTS_RATE, TOKENS_TAT, WINDOW, MONEY_BASE, TOKENS_BASE, LOADED = range(4, 11)
COLUMNS: Final = 11
# Columns of a row, one word for each worker.
IN_FLIGHT, RESERVED_MONEY, RESERVED_TOKENS, SPENT_MONEY, SPENT_TOKENS = range(5)
COLUMN_COUNT: Final = 5
_BECOMES_SPENT: Final = ((RESERVED_MONEY, SPENT_MONEY), (RESERVED_TOKENS, SPENT_TOKENS))

Words = list[int] | memoryview


class SharedTable:
    """`values[row + WORD]`, `values[row + COLUMNS + column * workers + worker]`. Not for several threads: a thread that
    needs one opens its own, so that the lock holds between them, too."""

    def __init__(
        self, folder: Path | None = None, *, worker: int = 0, workers: int = 1, lock_seconds: float = LOCK_SECONDS
    ) -> None:
        self.worker = worker
        self.lock_seconds = lock_seconds
        self.workers = workers
        self.stride = COLUMNS + COLUMN_COUNT * workers
        self.lock_timeouts = 0
        self._rows: dict[bytes, int] = {}
        self._known = 0  # rows that have been looked at
        self._descriptor = -1
        self.values: Words = [0]  # word 0 is the number of rows
        if folder is not None:
            self.values = self._mapped(folder / "limits")

    def _mapped(self, path: Path) -> memoryview:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        size = (1 + MAX_ROWS * self.stride) * 8
        os.ftruncate(self._descriptor, size)  # again and again: the size is the same for all workers
        return memoryview(mmap.mmap(self._descriptor, size)).cast("q")

    @property
    def is_shared(self) -> bool:
        return self._descriptor >= 0

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor, self.values = -1, [0]

    def column(self, row: int, column: int) -> int:
        """The place of this worker's word."""
        return row + COLUMNS + column * self.workers + self.worker

    def total(self, row: int, column: int) -> int:
        """The sum of a column over all workers."""
        values, workers = self.values, self.workers
        start = row + COLUMNS + column * workers
        return values[start] if workers == 1 else sum(values[start : start + workers])

    def row(self, identity: bytes) -> int | None:
        """The first word of the row of `identity` (32 bytes), made if there is none; None: the table is full."""
        found = self._rows.get(identity)
        if found is not None:
            return found
        self.lock()
        try:
            self._look()
            found = self._rows.get(identity)
            return found if found is not None else self._add(identity)
        finally:
            self.unlock()

    def _look(self) -> None:
        """Learn the rows that other workers have made."""
        values, stride = self.values, self.stride
        while self._known < values[0]:
            row = 1 + self._known * stride
            identity = b"".join(values[row + n].to_bytes(8, "little", signed=True) for n in range(4))
            self._rows[identity] = row
            self._known += 1

    def _add(self, identity: bytes) -> int | None:
        values, count = self.values, self._known
        if count >= MAX_ROWS:
            return None
        row = 1 + count * self.stride
        if isinstance(values, list):
            values.extend([0] * self.stride)
        for n in range(4):
            values[row + n] = int.from_bytes(identity[n * 8 : n * 8 + 8], "little", signed=True)
        values[0] = count + 1  # last: a row that is half made does not count
        self._rows[identity] = row
        self._known = count + 1
        return row

    def clear_worker(self) -> None:
        """This worker starts, and whoever ran in its place is dead: nothing is in flight, and what was reserved is
        spent, because requests without an end are recorded as they were estimated."""
        values = self.values
        self.lock()
        try:
            for n in range(values[0]):
                row = 1 + n * self.stride
                values[self.column(row, IN_FLIGHT)] = 0
                for reserved, spent in _BECOMES_SPENT:
                    # Spent first: whoever looks in between counts it twice, never not at all.
                    values[self.column(row, spent)] += max(0, values[self.column(row, reserved)])
                    values[self.column(row, reserved)] = 0
        finally:
            self.unlock()

    def lock(self) -> None:
        if self._descriptor < 0:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock_patiently()

    def _lock_patiently(self) -> None:
        end = time.monotonic() + self.lock_seconds
        while time.monotonic() < end:
            time.sleep(20e-6)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
        self.lock_timeouts += 1

    def unlock(self) -> None:
        if self._descriptor >= 0:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
