"""Where captures are kept: in memory, at most so many bytes of them, the oldest make room.

Several workers keep each capture as a file in the folder in memory that they share; a configured folder holds them on
disk for some days. Only the folder's owner can read either.
"""

from __future__ import annotations

import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

MAX_CAPTURES: Final = 500
SUFFIX: Final = ".capture.json"
SWEEP_SECONDS: Final = 60.0
TICK_NANOSECONDS: Final = 100_000_000
_SAFE: Final = re.compile(r"[^A-Za-z0-9_-]")


class CaptureStore(Protocol):
    """`add` and `sweep` in any thread; the latest capture of an id counts. `days`: how long one is kept at most."""

    days: float

    def add(self, request_id: str, data: bytes) -> None: ...

    def get(self, request_id: str) -> bytes | None: ...

    def ids(self) -> set[str]:
        """Of all that are kept, as `key_of` writes them."""

    def clear(self) -> None: ...

    def sweep(self) -> None:
        """Remove what is too old or too much."""


def key_of(request_id: str) -> str:
    """The id as it stands in a file's name."""
    return _SAFE.sub(lambda found: f"~{ord(found[0]):02x}", request_id)


class CapturesInMemory:
    """Of one worker."""

    days = 0.0

    def __init__(self, limit: int) -> None:
        """`limit` counts bytes."""
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def add(self, request_id: str, data: bytes) -> None:
        old = self._kept.pop(key_of(request_id), b"")
        self._kept[key_of(request_id)] = data
        self._size += len(data) - len(old)
        while self._kept and (self._size > self._limit or len(self._kept) > MAX_CAPTURES):
            self._size -= len(self._kept.popitem(last=False)[1])

    def get(self, request_id: str) -> bytes | None:
        return self._kept.get(key_of(request_id))

    def ids(self) -> set[str]:
        return set(self._kept)

    def clear(self) -> None:
        self._kept.clear()
        self._size = 0

    def sweep(self) -> None:
        """`add` has removed what is too much."""


class CapturesInFolder:
    """Of all workers. `days`: older files are removed; 0: only when there are too many."""

    def __init__(self, folder: Path, limit: int, days: float = 0, clock: Callable[[], float] = time.time) -> None:
        self._folder, self._limit, self.days, self._clock = folder, limit, days, clock
        self._swept = 0.0
        self._size = 0  # of what this worker has added since it swept
        self._listed: tuple[int, set[str]] = (0, set())  # when the folder had changed last, and the ids at that time
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def add(self, request_id: str, data: bytes) -> None:
        path = self._path(request_id)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError):  # the folder is full: the request itself must not suffer
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(data)
            part.replace(path)
        self._size += len(data)
        if self._size > self._limit // 16 or self._clock() - self._swept > SWEEP_SECONDS:
            self.sweep()

    def get(self, request_id: str) -> bytes | None:
        try:
            return self._path(request_id).read_bytes()
        except OSError:
            return None

    def ids(self) -> set[str]:
        changed = self._folder.stat().st_mtime_ns
        # The kernel's clock for files has ticks: what changed in this one may change again without a later time.
        if changed != self._listed[0] or self._clock() * 1e9 - changed < TICK_NANOSECONDS:
            names = os.listdir(self._folder)
            self._listed = changed, {name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)}
        return self._listed[1]

    def clear(self) -> None:
        for path in self._folder.glob(f"*{SUFFIX}"):
            path.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what is too old or too much."""
        self._swept, self._size = self._clock(), 0
        found = []
        for path in self._folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):  # another worker has removed it
                stat = path.stat()
                found.append((stat.st_mtime, stat.st_size, path))
        oldest = self._clock() - self.days * 86_400 if self.days else 0.0
        size = 0
        for number, (when, length, path) in enumerate(sorted(found, reverse=True)):
            size += length
            if size > self._limit or number >= MAX_CAPTURES or when < oldest:
                path.unlink(missing_ok=True)

        for path in self._folder.glob(f".*{SUFFIX}.*"):  # a worker that was killed has left it
            with suppress(OSError):
                if path.stat().st_mtime < self._clock() - SWEEP_SECONDS:
                    path.unlink()

    def _path(self, request_id: str) -> Path:
        return self._folder / f"{key_of(request_id)}{SUFFIX}"
