"""The last lines of the access log in memory that all workers of a machine share: one ring of bytes per worker.

    start (8) | end (8) | lines of JSON, one after the other, around and around

Both are counted in bytes that were ever written; `start` is always the beginning of a line. Only its worker writes to a
ring. It moves `start` before it overwrites anything, so that a reader which looks at `start` again after it has copied
knows what of its copy is good. Nothing is locked.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Final

HEADER: Final = 16
RING_BYTES: Final = 6 << 20  # of all workers together: 10 000 lines of 600 bytes
LEAST_BYTES: Final = 256 << 10  # of one worker
NAME: Final = "requests-"


def ring_size(workers: int) -> int:
    return max(LEAST_BYTES, RING_BYTES // max(workers, 1)) // mmap.PAGESIZE * mmap.PAGESIZE


class RequestRing:
    """The ring of one worker. `folder` None: there is only this worker."""

    def __init__(self, folder: Path | None = None, worker: int = 0, size: int = RING_BYTES) -> None:
        self._size = size - HEADER
        if folder is None:
            self._area = mmap.mmap(-1, size)
        else:
            with (folder / f"{NAME}{worker}").open("a+b") as file:
                file.truncate(size)
                self._area = mmap.mmap(file.fileno(), size)
        self._ends = memoryview(self._area)[:HEADER].cast("q")

    def write(self, lines: Sequence[bytes]) -> None:
        """Each line ends with a line break. The oldest make room."""
        kept, length = len(lines), 0
        while kept and length + len(lines[kept - 1]) <= self._size // 2:
            kept -= 1
            length += len(lines[kept])
        data = b"".join(lines[kept:])
        start, end = self._ends[0], self._ends[1]
        if (needed := end + len(data) - self._size) > start:
            self._ends[0] = self._line_after(needed - 1, end)
        at = end % self._size
        first = min(len(data), self._size - at)
        self._area[HEADER + at : HEADER + at + first] = data[:first]
        self._area[HEADER : HEADER + len(data) - first] = data[first:]
        self._ends[1] = end + len(data)

    def read(self, after: int) -> tuple[bytes, int]:
        """The lines that were written since position `after`, as far as they are kept, and the position behind them."""
        start, end = self._ends[0], self._ends[1]
        at = max(after, start) if after <= end else start  # the worker's successor may have begun anew
        place, length = at % self._size, end - at
        first = min(length, self._size - place)
        data = self._area[HEADER + place : HEADER + place + first] + self._area[HEADER : HEADER + length - first]
        overwritten = self._ends[0] - at
        return (data[overwritten:] if overwritten > 0 else data), end

    def _line_after(self, position: int, end: int) -> int:
        """The beginning of the line behind the one that the byte at `position` is in; `end` if it is the last."""
        place = HEADER + position % self._size
        found = self._area.find(b"\n", place)
        if found < 0:
            found = self._area.find(b"\n", HEADER, place)
            position += self._size
        return end if found < 0 else position + found + 1 - place
