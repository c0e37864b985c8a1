"""Which target each session is at: a table of fixed size, shared by the workers of a machine.

One word per session, written by one aligned store, so that nothing is locked: 26 bits of the session's key (14 more
are the number of its set), 16 bits that name the target, 20 bits of time in minutes. So a word has 62 bits, which
machine code computes with at once. A set holds four sessions; the one that was idle longest makes room. 65 536 sessions
take 512 KiB.
"""

from __future__ import annotations

import mmap
from array import array
from pathlib import Path
from typing import Final
from zlib import crc32

SETS: Final = 1 << 14
WAYS: Final = 4
IDLE_MINUTES: Final = 60  # after which a session is forgotten: no provider caches a prompt for longer
_TIMES: Final = 1 << 20  # minutes are counted modulo this
_TARGETS: Final = 1 << 16
_TAGS: Final = 1 << 26


class SessionTable:
    """`get(session, now)` gives the mark of a target (1 … 65535), or 0. Clocks are in seconds, the same for all.

    Both halves of a session's key are hashes, so its set and its tag are parts of them.
    """

    __slots__ = ("_slots",)

    def __init__(self, folder: Path | None = None) -> None:
        self._slots = memoryview(array("Q", bytes(SETS * WAYS * 8))) if folder is None else _mapped(folder)

    def get(self, session: int, now: float) -> int:
        """Where the session is; it counts as in use now."""
        at, tag = (session ^ session >> 32) % SETS * WAYS, (session >> 36 ^ session >> 6) % _TAGS
        minute = int(now / 60) % _TIMES
        slots = self._slots
        for index in range(at, at + WAYS):
            word: int = slots[index]
            if word >> 36 == tag and word:
                age = (minute - word) % _TIMES
                if age > IDLE_MINUTES:
                    return 0
                if age:
                    slots[index] = word >> 20 << 20 | minute
                return (word >> 20) % _TARGETS
        return 0

    def put(self, session: int, target: int, now: float) -> None:
        """The session is at this target now."""
        at, tag = (session ^ session >> 32) % SETS * WAYS, (session >> 36 ^ session >> 6) % _TAGS
        minute = int(now / 60) % _TIMES
        word = tag << 36 | target << 20 | minute
        place, idle = 0, -1
        for index, found in enumerate(self._slots[at : at + WAYS].tolist()):
            if found and found >> 36 == tag:
                place = index
                break
            age = (minute - found) % _TIMES if found else _TIMES
            if age > idle:
                place, idle = index, age
        self._slots[at + place] = word


def target_mark(name: bytes, taken: frozenset[int] | set[int] = frozenset()) -> int:
    """A number for a target that all workers know it by, also after a reload; none of those that are taken."""
    mark = crc32(name) % (_TARGETS - 1) + 1
    while mark in taken:
        mark = mark % (_TARGETS - 1) + 1
    return mark


def _mapped(folder: Path) -> memoryview:
    with (folder / "sessions").open("a+b") as file:
        file.truncate(SETS * WAYS * 8)
        return memoryview(mmap.mmap(file.fileno(), SETS * WAYS * 8)).cast("Q")
