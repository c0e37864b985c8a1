"""What a command takes from its process: the environment and the person at the terminal. Tests pass their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Console:
    """`read_line` prints a prompt and returns a line; it raises EOFError at the end of the input."""

    environ: Mapping[str, str]
    interactive: bool  # standard input is a terminal: questions can be asked
    read_line: Callable[[str], str] = input

    def expand(self, path: Path) -> Path:
        """The path with a leading `~` replaced by the home folder."""
        home = self.environ.get("HOME")
        if home and path.parts[:1] == ("~",):
            return Path(home, *path.parts[1:])
        return path.expanduser()


def process_console() -> Console:
    """The console of this process."""
    return Console(os.environ, sys.stdin.isatty())
