"""The last requests of all workers, newest last, as the worker that serves the admin listener has gathered them."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate.gateway.record.request_ring import NAME, RequestRing
from moongate.payload import JsonObject, object_of

MAX_REQUESTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class RecentRequest:
    """`number` counts up as requests are gathered; `line` is the request's line of the log."""

    number: int
    line: JsonObject


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
        lines: list[JsonObject] = []
        for worker, ring in self._rings.items():
            data, self._read[worker] = ring.read(self._read.get(worker, 0))
            lines += [line for text in data.split(b"\n") if (line := object_of(text)) is not None]
        lines.sort(key=lambda line: str(line.get("time", "")))
        for line in lines:
            self._last += 1
            self.all.append(RecentRequest(self._last, line))

    def after(self, number: int) -> Iterator[RecentRequest]:
        found = list(self.all)
        yield from found[bisect_right(found, number, key=lambda each: each.number) :]

    def find(self, request_id: str) -> RecentRequest | None:
        """The latest one with this id: clients may choose ids, and choose one twice."""
        return next((each for each in reversed(self.all) if each.line.get("id") == request_id), None)

    def select(self, wanted: Callable[[JsonObject], bool]) -> list[RecentRequest]:
        """The newest first."""
        return [each for each in reversed(self.all) if wanted(each.line)]

    @property
    def last(self) -> int:
        return self._last

    def _find_rings(self) -> None:
        if self._folder is None:
            return
        for path in self._folder.glob(f"{NAME}*"):
            number = path.name.removeprefix(NAME)
            if number.isdigit() and int(number) not in self._rings:
                self._rings[int(number)] = RequestRing(self._folder, int(number), self._size)
