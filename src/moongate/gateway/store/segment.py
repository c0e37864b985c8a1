"""One file of the journal: a fixed size, allocated at once, mapped by its one writer, read by whoever takes it.

    magic (8 bytes) | taken (8 bytes: up to where it is in the database) | record | record | … | zeros

The writer copies into the mapping, so that what it has appended survives its own death without a system call; a crash
of the whole machine may take what the kernel had not written yet. Space is allocated beforehand: writing to a mapping
of a full disk would kill the process.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from struct import Struct
from typing import Final

from moongate.gateway.store.allocation import allocate
from moongate.gateway.store.record import SIZE, Numbers, UsageRow, read_record, write_record

SEGMENT_BYTES: Final = 1 << 20
READ_BYTES: Final = 1 << 15  # at a time: about 170 records
MAGIC: Final = b"moonjrn1"
START: Final = 16
END: Final = -1  # in the place of an id: nothing will follow
_NUMBER: Final = Struct("<q")
BINARY: Final[int] = getattr(os, "O_BINARY", 0)  # Windows would change line ends


def _read_at(descriptor: int, size: int, position: int) -> bytes:
    os.lseek(descriptor, position, os.SEEK_SET)
    return os.read(descriptor, size)


class SegmentWriter:
    """The segment that a worker appends to. Raises OSError if there is no room on the disk."""

    __slots__ = ("_last", "_map", "_position")

    def __init__(self, path: Path, size: int = SEGMENT_BYTES) -> None:
        temporary = path.with_suffix(".new")  # readers see it when it is ready
        descriptor = os.open(temporary, BINARY | os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            allocate(descriptor, size)
            self._map = mmap.mmap(descriptor, size)
        except OSError:
            os.unlink(temporary)
            raise
        finally:
            os.close(descriptor)
        self._map[:START] = MAGIC + _NUMBER.pack(START)
        self._position = START
        self._last = size - SIZE - 8  # where the last record may begin, if its names are empty
        os.replace(temporary, path)

    def append(self, row_id: int, label: bytes, request: bytes, numbers: Numbers) -> bool:
        """False: there is no room for it."""
        at = self._position
        names = len(label) + len(request)
        if at + names > self._last:
            return False
        write_record(self._map, at, row_id, label, request, numbers)
        self._position = at + SIZE + names
        return True

    def close(self) -> None:
        """Nothing more will come."""
        _NUMBER.pack_into(self._map, self._position, END)
        self._map.close()


class SegmentReader:
    """Reads what a writer has appended, from where it was taken up to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, BINARY | os.O_RDWR)
        head = _read_at(self._descriptor, START, 0)
        self.is_journal = head[:8] == MAGIC and len(head) == START
        position = _NUMBER.unpack(head[8:])[0] if self.is_journal else START
        self.position = position if START <= position <= os.fstat(self._descriptor).st_size else START
        self.is_over = False  # its writer has closed it, and everything was read

    def read(self, limit: int) -> list[UsageRow]:
        """Further records, at most `limit`; `position` moves on. A record that is being written ends the list."""
        found: list[UsageRow] = []
        while len(found) < limit and self._read_block(found, limit):
            pass
        return found

    def _read_block(self, found: list[UsageRow], limit: int) -> bool:
        """Add the records of one block. False: there are no further ones."""
        data = _read_at(self._descriptor, READ_BYTES, self.position)
        at, end = 0, len(data)
        while len(found) < limit:
            row = read_record(data, at, end)
            if row is None:
                self.is_over = at + 8 <= end and _NUMBER.unpack_from(data, at)[0] == END
                break
            found.append(row)
            at += SIZE + len(row[1]) + len(row[2])  # a request id is ASCII
        self.position += at
        return at > 0

    def is_empty(self) -> bool:
        """Is there no further record now? `position` stays."""
        position = self.position
        found = self.read(1)
        self.position = position
        return not found

    def taken(self) -> None:
        """What was read is safe elsewhere."""
        os.lseek(self._descriptor, 8, os.SEEK_SET)
        os.write(self._descriptor, _NUMBER.pack(self.position))

    def close(self) -> None:
        os.close(self._descriptor)


def written_until(path: Path) -> int:
    """Up to where a segment has records; 0 if it is gone."""
    try:
        reader = SegmentReader(path)
    except FileNotFoundError:
        return 0
    while reader.read(READ_BYTES):
        pass
    reader.close()
    return reader.position


def is_taken(path: Path, position: int) -> bool:
    """Is everything before this position in the database? A segment that is gone was taken whole."""
    try:
        reader = SegmentReader(path)
    except FileNotFoundError:
        return True
    reader.close()
    return reader.position >= position
