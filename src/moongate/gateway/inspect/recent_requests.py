"""The last requests of all workers, newest last, as the worker that serves the admin listener has gathered them.

A line is parsed when somebody looks at it: an open page gathers every line, but shows few of a busy gateway's.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from moongate.gateway.record.request_ring import NAME, RequestRing
from moongate.payload import JsonObject, object_of

MAX_REQUESTS: Final = 10_000
BEGINNING: Final = b'{"time":"'  # of every line
WHEN: Final = slice(len(BEGINNING), len(BEGINNING) + len("2026-01-01T00:00:00.000Z"))


class RecentRequest:
    """`number` counts up as requests are gathered; `line` is the request's line of the log."""

    __slots__ = ("_data", "_line", "number")

    def __init__(self, number: int, data: bytes) -> None:
        self.number = number
        self._data = data
        self._line: JsonObject = {}

    @property
    def line(self) -> JsonObject:
        if data := self._data:  # another thread may be reading it, too
            self._line = object_of(data) or {}
            self._data = b""
        return self._line


class RecentRequests:
    """`gather` before a look at `all`, or at those `after` a number."""

    def __init__(self, own: RequestRing, folder: Path | None = None, worker: int = 0, size: int = 0) -> None:
        """`size` is that of each worker's ring."""
        self._folder, self._own, self._size = folder, worker, size
        self._rings: dict[int, RequestRing] = {worker: own}
        self._read: dict[int, int] = {}  # how far, by worker
        self._last = 0
        self.all: deque[RecentRequest] = deque(maxlen=MAX_REQUESTS)

    def gather(self) -> None:
        """Take in what the workers have written since the last time, in the order of time."""
        self._find_rings()
        lines: list[bytes] = []
        for worker, ring in self._rings.items():
            data, self._read[worker] = ring.read(self._read.get(worker, 0))
            lines += data.split(b"\n")
        if len(self._rings) > 1:
            lines.sort(key=lambda line: line[WHEN])
        number, add = self._last, self.all.append
        for line in lines:
            if line.startswith(BEGINNING):
                number += 1
                add(RecentRequest(number, line))
        self._last = number

    def after(self, number: int) -> Iterator[RecentRequest]:
        """The newest first."""
        return islice(reversed(self.all), max(0, self._last - number))

    def find(self, request_id: str) -> RecentRequest | None:
        """The latest one with this id: clients may choose ids, and choose one twice."""
        return next((each for each in reversed(self.all) if each.line.get("id") == request_id), None)

    @property
    def last(self) -> int:
        return self._last

    def _find_rings(self) -> None:
        if self._folder is None:
            return
        for name in os.listdir(self._folder):
            number = name.removeprefix(NAME) if name.startswith(NAME) else ""
            if number.isdigit() and int(number) not in self._rings:
                self._rings[int(number)] = RequestRing(self._folder, int(number), self._size)
