"""The rows in which the workers of a machine count what the answers of each target were worth.

One small mapped file per target, named by a digest, in the folder that is removed with the gateway: all workers write
to it, a worker that starts or reloads its configuration finds what is known. A single worker needs no file.
"""

from __future__ import annotations

import mmap
from hashlib import blake2b
from pathlib import Path
from typing import Final

from moongate.gateway.routing.quality import ROW, TargetScore

_BYTES: Final = ROW * 8


class ScoreTable:
    """`score(name)`: what is known of a target. The same name gives the same score, also after a reload."""

    __slots__ = ("_folder", "_scores")

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._scores: dict[str, TargetScore] = {}

    def score(self, name: str) -> TargetScore:
        found = self._scores.get(name)
        if found is None:
            found = self._scores[name] = TargetScore(None if self._folder is None else _mapped(self._folder, name))
        return found


def _mapped(folder: Path, name: str) -> memoryview[float]:
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    with (folder / f"score-{digest}").open("a+b") as file:
        file.truncate(_BYTES)
        return memoryview(mmap.mmap(file.fileno(), _BYTES)).cast("d")
