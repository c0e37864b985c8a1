"""One request as it stands in the journal: a fixed part in binary, then its label and its request id.

    id (8) | lengths of label and request id (2, 2) | numbers | id again (8) | label | request id

Label and request id are written first and the fixed part last, whose last field is the id: a record whose two ids
differ was never finished. The label (who asked whom) is the same bytes for many requests, made once by `label_of`.
Binary, because this is written twice for every request: 2.4 µs for both against 3.0 µs as JSON with a checksum.
"""

from __future__ import annotations

import mmap
from struct import Struct
from typing import Final, NamedTuple

from moongate.payload import dumps, loads

LABEL_FIELDS: Final = ("client_key", "team", "front", "provider", "model", "worth")
MAX_NAME: Final = 200  # characters of a name in a label
MAX_REQUEST: Final = 128  # bytes of a request id
UNKNOWN: Final = -1  # a cost or a time that is not known
_FIXED: Final = Struct("<qHHhhiqqqqqqhqqq")
SIZE: Final = _FIXED.size
_pack: Final = _FIXED.pack_into
_unpack: Final = _FIXED.unpack_from
# Those of a `UsageRow` from its status on. Of a fixed length: machine code makes no object of it.
Numbers = tuple[int, int, int, int, int, int, int, int, int, int, int, int]


class UsageRow(NamedTuple):
    """One request. Times are in microseconds, `cost` in millionths of a dollar; -1 is unknown."""

    id: int
    label: bytes
    request: str
    status: int
    attempts: int
    repairs: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int
    cost: int
    estimated: int
    first_byte: int
    duration: int


def label_of(client_key: str, team: str, front: str, provider: str, model: str, worth: str) -> bytes:
    """Who asked whom, and what the answer was worth."""
    names = (client_key, team, front, provider, model, worth)
    return dumps([name.replace("\x00", "")[:MAX_NAME] for name in names])


def names_in(label: bytes) -> tuple[str, ...]:
    """The names in a label, in the order of `LABEL_FIELDS`; all empty if it was damaged."""
    try:
        found = loads(label)
    except ValueError:
        found = None
    if isinstance(found, list) and len(found) == len(LABEL_FIELDS) and all(isinstance(each, str) for each in found):
        return tuple(found)
    return ("",) * len(LABEL_FIELDS)


def write_record(place: mmap.mmap, at: int, row_id: int, label: bytes, request: bytes, numbers: Numbers) -> None:
    """There must be room."""
    start = at + SIZE
    place[start : start + len(label) + len(request)] = label + request
    status, attempts, repairs, read, cached, stored, written, reasoning, cost, estimated, first, duration = numbers
    _pack(  # without a star, for which machine code would make a list and a tuple
        place, at, row_id, len(label), len(request), status, attempts, repairs, read, cached, stored, written,
        reasoning, cost, estimated, first, duration, row_id,
    )  # fmt: skip


def read_record(data: bytes | mmap.mmap, at: int, end: int) -> UsageRow | None:
    """The record at a place; None if there is none, or it ends behind `end`."""
    if at + SIZE > end:
        return None
    fields = _unpack(data, at)
    row_id, first, second = fields[:3]
    start = at + SIZE
    if row_id <= 0 or row_id != fields[15] or start + first + second > end:
        return None
    middle = start + first
    label, request = data[start:middle], data[middle : middle + second]
    # Without the detour of a named tuple's own `__new__`.
    return tuple.__new__(UsageRow, (row_id, label, request.decode("ascii", "replace")) + fields[3:15])  # noqa: RUF005 (slower)
