"""What a contender is: a server that is started in front of the fake provider and asked for one of its models."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.process import Running, free_port
from bench.turns import FRONTS, VARIANTS

KEY = "sk-bench"
STREAMS_AT_ONCE = (1, 10, 100, 500, 1000, 2000, 5000)
CHUNK_SIZES = (10, 100, 1000, 10000)
CHUNKS_A_READ = (1, 4, 16, 64)
FIRST_BYTE = "text-1-0"  # answers at once and is soon over: for the time to the first byte

Started = tuple[list[str], dict[str, str]]  # the command, and what its environment has besides


def paced(streams: int) -> str:
    """Fifty chunks, at most 4 000 a second in all: none of the processes is then the bottleneck."""
    return f"text-50-{max(5, streams // 4)}"


MODELS = list(
    dict.fromkeys(
        [
            *("small", "hold", "text-100-5", "markers-100-5", "text-20000-0", FIRST_BYTE),
            *(variant.answer for variant in VARIANTS),
            *map(paced, STREAMS_AT_ONCE),
            *(f"text-100-5-{size}" for size in CHUNK_SIZES),
            *(f"text-640-5-34-{per}" for per in CHUNKS_A_READ),
        ]
    )
)


def with_key(provider: int) -> dict[str, str]:
    return {"authorization": f"Bearer {KEY}"}


def available() -> str:
    return ""


@dataclass(frozen=True)
class Contender:
    """`command` gets its own port, the provider's port and a folder. `missing` says why it cannot run here, or ""."""

    name: str
    command: Callable[[int, int, Path], Started]
    prefix: str = ""  # before the model's name
    headers: Callable[[int], dict[str, str]] = with_key
    missing: Callable[[], str] = available
    fronts: tuple[str, ...] = tuple(FRONTS)
    build: bool = False  # a build of moongate: it knows the providers of its configuration
    slow: bool = False  # gets fewer requests
    rows: frozenset[str] = frozenset()  # the names of those that it is measured in; none: all, and what has no row
    title: str = ""  # in the tables of the documentation, if not its name

    def start(self, provider: int) -> Running:
        port = free_port()
        folder = Path(tempfile.mkdtemp(prefix="bench-"))
        command, env = self.command(port, provider, folder)
        return Running(command, port, env=env, cwd=folder)
