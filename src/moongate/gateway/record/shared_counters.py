"""Counters that several workers increment and any of them can sum up: one array of 64-bit slots per worker.

A worker writes only to its own slots, so nothing is locked. With several workers the slots are in memory-mapped files
(in a private folder that is removed with the gateway), each beside a file with the names of its slots: the counts of a
worker that dies are kept, and its replacement continues in the same file.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MAX_SLOTS: Final = 1 << 16  # 512 KiB per worker; only pages in use take memory

Values = list[int] | memoryview


class SharedCounters:
    """The slots of one worker. `values[slot(name)] += 1` counts."""

    def __init__(self, folder: Path | None = None, worker: int = 0, max_slots: int = MAX_SLOTS) -> None:
        self._max_slots = max_slots
        self._folder = folder
        self._names: dict[str, int] = {}
        self.values: Values = [0]
        self._path = folder / f"worker-{worker}" if folder is not None else None
        if self._path is not None:
            self.values = _mapped(self._path, create=True)
            self._names = {name: index for index, name in enumerate(_names(self._path), 1)}

    def slot(self, name: str) -> int:
        """The slot of a name; slot 0 if all others are in use."""
        found = self._names.get(name)
        if found is not None:
            return found
        index = len(self._names) + 1
        if index >= self._max_slots:
            return 0
        if self._path is not None:
            with self._path.with_suffix(".names").open("a", encoding="utf-8") as file:
                file.write(name + "\n")  # one short write, which is atomic
        else:
            self.values.append(0)  # type: ignore[union-attr]
        self._names[name] = index
        return index

    def totals(self) -> dict[str, int]:
        """The sum over all workers, by name."""
        sums: dict[str, int] = {}
        for name, value in self._all():
            sums[name] = sums.get(name, 0) + value
        return sums

    def by_worker(self) -> Iterator[tuple[str, list[tuple[str, int]]]]:
        """The names and values of each worker, by its number."""
        if self._folder is None:
            yield "0", list(self._all())
            return
        for path in sorted(self._folder.glob("worker-*.names")):
            values = _mapped(path.with_suffix(""), create=False)
            found = [(name, values[index]) for index, name in enumerate(_names(path.with_suffix("")), 1)]
            yield path.stem.removeprefix("worker-"), found

    def _all(self) -> Iterator[tuple[str, int]]:
        if self._folder is None:
            yield from ((name, self.values[index]) for name, index in self._names.items())
            return
        for path in sorted(self._folder.glob("worker-*.names")):
            values = _mapped(path.with_suffix(""), create=False)
            yield from ((name, values[index]) for index, name in enumerate(_names(path.with_suffix("")), 1))


def _mapped(path: Path, *, create: bool) -> memoryview:
    with path.open("a+b" if create else "r+b") as file:
        if create:
            file.truncate(MAX_SLOTS * 8)
        # Signed, because a gauge is decremented, too.
        return memoryview(mmap.mmap(file.fileno(), MAX_SLOTS * 8)).cast("q")


def _names(path: Path) -> list[str]:
    try:
        text = path.with_suffix(".names").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return text.split("\n")[:-1]
