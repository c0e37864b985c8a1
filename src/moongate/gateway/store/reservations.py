"""What is being answered now: one slot on disk for each request in flight, with the row that it is estimated at.

If the worker is killed, whoever opens the slots next finds the requests that never ended, and records them as
estimated. A slot is written and cleared in the mapping of a file, without a system call.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from struct import Struct
from typing import Final

from moongate.gateway.store.allocation import allocate
from moongate.gateway.store.record import SIZE, Numbers, UsageRow, read_record, write_record

SLOT_BYTES: Final = 2048  # a record with the longest names has 1 700
_ID: Final = Struct("<q")
_write_id: Final = _ID.pack_into


class ReservationSlots:
    """`take(…) -> slot`, `clear(slot)`. `left` is what was found at the start: the records of a dead worker."""

    __slots__ = ("_free", "_free_count", "_map", "_occupied", "count", "left")

    def __init__(self, path: Path, count: int) -> None:
        """With `count` slots, or as many as the file has. Raises OSError if there is no room on the disk."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            size = max(count * SLOT_BYTES, os.fstat(descriptor).st_size, SLOT_BYTES)
            allocate(descriptor, size)
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        self.count = size // SLOT_BYTES
        slots = range(self.count)
        found = [read_record(self._map, slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES) for slot in slots]
        self.left: list[UsageRow] = [record for record in found if record is not None]
        self._occupied = [slot for slot in slots if found[slot] is not None]
        # The first `_free_count` of them are free.
        self._free = [slot for slot in reversed(slots) if found[slot] is None]
        self._free_count = len(self._free)
        self._free += self._occupied

    def forget_left(self) -> None:
        """The records that were found are safe elsewhere."""
        for slot in self._occupied:
            self.clear(slot)
        self.left, self._occupied = [], []

    def take(self, row_id: int, label: bytes, request: bytes, numbers: Numbers) -> int:
        """The slot with the record; -1 if there is none for it (none free, or it is too long)."""
        if not self._free_count or len(label) + len(request) > SLOT_BYTES - SIZE:
            return -1
        self._free_count -= 1
        slot = self._free[self._free_count]
        write_record(self._map, slot * SLOT_BYTES, row_id, label, request, numbers)
        return slot

    def clear(self, slot: int) -> None:
        """The request has ended, and its row is in the journal."""
        if slot >= 0:
            _write_id(self._map, slot * SLOT_BYTES, 0)
            self._free[self._free_count] = slot
            self._free_count += 1

    def close(self) -> None:
        self._map.close()
