"""The journal between requests and the database: what has happened, on disk, before anybody asks the database.

Each worker of a machine has a number of its own, held by a lock on `NN.lock`, a file with the requests in flight
(`NN.open`) and segments with those that have ended (`NN-milliseconds.journal`). One thread of one worker takes the
segments of all into the database (`writer`). A worker that was killed leaves its files; the next owner of its number,
or the writer, finds its open requests there and records them as estimated.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from moongate.gateway.file_lock import lock_file
from moongate.gateway.store.errors import StoreBusy, StoreDenied, StoreError, StoreFull
from moongate.gateway.store.record import Numbers, UsageRow
from moongate.gateway.store.reservations import ReservationSlots
from moongate.gateway.store.row_ids import MAX_WORKERS, RowIds
from moongate.gateway.store.segment import SEGMENT_BYTES, SegmentWriter

JOURNAL_BYTES: Final = 256 << 20  # on disk for all workers, while the database is away: about a million requests


class Journal:
    """One worker's part. Not for several threads."""

    def __init__(
        self,
        folder: Path,
        *,
        worker: int = 0,
        slots: int = 1000,
        limit: int = JOURNAL_BYTES,
        exact: bool = False,
        node: int = 0,
    ) -> None:
        """`exact`: no other number than `worker`. Raises StoreError if it cannot be written, StoreBusy if the number
        is not free."""
        self._folder = folder
        self._limit = limit
        self.lost = 0  # rows for which there was no room
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.number, self._lock = _own_number(folder, (worker,) if exact else (worker, *range(MAX_WORKERS)))
            self.node = node
            self.ids = RowIds(self.number, node)
            self._slots = ReservationSlots(folder / f"{self.number:02}.open", slots)
            # A name is never used again: a writer may still hold the file of a dead worker for abandoned.
            used = [_sequence(path) for path in segments(folder, self.number)]
            self._next = max(1 + max(used, default=0), time.time_ns() // 1_000_000)
            self._segment: SegmentWriter | None = None
            for unfinished in folder.glob(f"{self.number:02}-*.new"):  # its owner was killed while it made a segment
                unfinished.unlink()
        except OSError as error:
            raise _explained(error, folder) from None
        self.recovered = self._recover()

    @property
    def slot_count(self) -> int:
        """How many requests can be in flight with a record of it."""
        return self._slots.count

    def begin(self, row_id: int, label: bytes, request: bytes, numbers: Numbers) -> int:
        """A request is on its way; if its end is never recorded, this estimated row stands. Returns its slot."""
        return self._slots.take(row_id, label, request, numbers)

    def end(self, slot: int, row_id: int, label: bytes, request: bytes, numbers: Numbers) -> bool:
        """It has ended. False: there is no room, and the row is lost (and counted)."""
        segment = self._segment
        kept = segment is not None and segment.append(row_id, label, request, numbers)
        if not kept:
            kept = self._append(row_id, label, request, numbers)
        self._slots.clear(slot)
        return kept

    def drop(self, slot: int) -> None:
        """It never reached a provider: there is nothing to record."""
        self._slots.clear(slot)

    @property
    def is_full(self) -> bool:
        """Is there room for no further segment? The current one may have some."""
        return self.size() + SEGMENT_BYTES > self._limit

    def size(self) -> int:
        """Bytes on disk, of all workers."""
        return len(segments(self._folder)) * SEGMENT_BYTES

    def close(self) -> None:
        """What is left is taken by the writer, now or at the next start."""
        if self._segment is not None:
            self._segment.close()
            self._segment = None
        self._slots.close()
        os.close(self._lock)

    def _append(self, row_id: int, label: bytes, request: bytes, numbers: Numbers) -> bool:
        segment = self._new_segment()
        if segment is None or not segment.append(row_id, label, request, numbers):
            self.lost += 1
            return False
        return True

    def _new_segment(self) -> SegmentWriter | None:
        if self._segment is not None:
            self._segment.close()
            self._segment = None
        if self.is_full:
            return None
        try:
            self._segment = SegmentWriter(self._folder / f"{self.number:02}-{self._next:013}.journal")
        except OSError:  # the disk is full
            return None
        self._next += 1
        return self._segment

    def _recover(self) -> list[UsageRow]:
        """Record the requests that a dead worker had open; they stay there if there is no room in the journal."""
        rows = self._slots.left
        if all(self.end(-1, row.id, row.label, row.request.encode(), row[3:]) for row in rows):
            self._slots.forget_left()
        return rows


def segments(folder: Path, number: int | None = None) -> list[Path]:
    """The segments of one worker or of all, the oldest of each worker first."""
    pattern = "*.journal" if number is None else f"{number:02}-*.journal"
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return [folder / name for name in sorted(fnmatch.filter(names, pattern))]


def recover_dead(folder: Path) -> set[Path]:
    """Record what dead workers had left open; gives the segments to which no process will append any more."""
    dead: set[Path] = set()
    for path in sorted(folder.glob("[0-9][0-9].open")):
        with contextlib.suppress(StoreBusy):
            journal = Journal(folder, worker=int(path.stem), slots=0, exact=True)
            dead.update(segments(folder, journal.number))  # while nobody else can have the number
            journal.close()
    return dead


def _own_number(folder: Path, wanted: Iterable[int]) -> tuple[int, int]:
    """The first of these numbers that no other process holds, and the descriptor that holds it."""
    for number in wanted:
        with contextlib.suppress(BlockingIOError):
            return number, _lock_of(folder, number)
    raise StoreBusy(f"other workers use the journal {folder}, and there is no free number among {MAX_WORKERS}")


def _lock_of(folder: Path, number: int) -> int:
    """Raises BlockingIOError if another process holds it."""
    descriptor = os.open(folder / f"{number:02}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock_file(descriptor)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor


def _sequence(path: Path) -> int:
    digits = path.stem.partition("-")[2]
    return int(digits) if digits.isdigit() else 0


def _explained(error: OSError, folder: Path) -> StoreError:
    if error.errno == 28:
        return StoreFull(f"the disk with the journal {folder} is full: make room, or choose another MOONGATE_HOME")
    return StoreDenied(f"the journal {folder} cannot be written: {error.strerror}")
