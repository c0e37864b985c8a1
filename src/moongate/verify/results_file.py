"""`results.jsonl`: one row a line, appended as samples end. A killed run leaves at most one line that is cut."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from moongate.errors import ConfigError
from moongate.payload import JsonObject, dumps, object_of
from moongate.verify.case import PlannedCase

RESULTS: Final = "results.jsonl"
SUMMARY: Final = "summary.json"
Key = tuple[str, str, int]


class ResultsFile:
    """The rows of one run. A context manager: it is open for appending inside."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RESULTS
        self._descriptor = -1

    def __enter__(self) -> Self:
        with writing(self.path):
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def append(self, row: JsonObject) -> None:
        """In one write, so that a kill leaves whole lines."""
        line = memoryview(dumps(row) + b"\n")
        with writing(self.path):
            while line:
                line = line[os.write(self._descriptor, line) :]

    def rows(self) -> Iterator[JsonObject]:
        """Whole rows in the order of the file; what is cut or of another kind is passed over."""
        return (row for row, _ in self._placed())

    def compact(self, planned: list[PlannedCase]) -> set[Key]:
        """Rewrite the file: the last row of each planned case, in the order of the plan. Which cases are done: those
        that got an answer or a refusal."""
        wanted = {each.key: each.index for each in planned}
        places: dict[Key, tuple[int, int]] = {}
        done = set[Key]()
        for row, place in self._placed():
            key = key_of(row)
            if wanted.get(key) == row.get("data_index"):
                places[key] = place
                done.discard(key)
                if row["moongate"]["raw"]["status"] not in (0, 408, 429) and row["moongate"]["raw"]["status"] < 500:
                    done.add(key)
        self._rewrite([places[each.key] for each in planned if each.key in places])
        return done

    def _placed(self) -> Iterator[tuple[JsonObject, tuple[int, int]]]:
        if not self.path.exists():
            return
        at = 0
        with self.path.open("rb") as file:
            for line in file:
                row = object_of(line) if line.endswith(b"\n") else None
                if row is not None and isinstance(row.get("moongate"), dict):
                    yield row, (at, len(line))
                at += len(line)

    def _rewrite(self, places: list[tuple[int, int]]) -> None:
        if not self.path.exists():
            return
        fresh = self.path.with_suffix(".jsonl.new")
        with writing(fresh):
            with self.path.open("rb") as old, fresh.open("wb") as new:
                for at, size in places:
                    old.seek(at)
                    new.write(old.read(size))
            fresh.replace(self.path)


def key_of(row: JsonObject) -> Key:
    ours = row["moongate"]
    return ours["suite"], ours["case"], ours["run"]


def write_file(path: Path, data: bytes) -> None:
    """As a whole or not at all."""
    fresh = path.with_name(path.name + ".new")
    with writing(path):
        fresh.write_bytes(data)
        fresh.replace(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """A full disk is no bug: what has been written stays, and a run goes on from there."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", path=str(path)) from None
