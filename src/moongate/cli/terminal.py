"""What a terminal shows: colour there and only there, and commands that can be pasted."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final, TextIO

_CODES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Paint:
    """`paint("text", "bold")`; plain text if the stream is no terminal or NO_COLOR is set."""

    def __init__(self, stream: TextIO | None = None) -> None:
        stream = stream or sys.stdout
        self._on = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    def __call__(self, text: str, style: str) -> str:
        return f"\033[{_CODES[style]}m{text}\033[0m" if self._on else text


def warn(text: str) -> None:
    print(f"{Paint(sys.stderr)('warning:', 'yellow')} {text}", file=sys.stderr, flush=True)


def fitted(line: str) -> str:
    """On a terminal, a long line goes on below, further in; elsewhere a line is a line."""
    columns = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or len(line) <= columns or "\033" in line:
        return line
    import textwrap

    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, max(columns, 40), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def command() -> str:
    """How to call us again from here: `moongate` only if the shell would find this very one."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        name = Path(sys.executable).name
        return f"{shlex.quote(name if shutil.which(name) == sys.executable else sys.executable)} -m moongate"
    found = shutil.which("moongate")
    if called.name != "moongate" or not called.exists() or (found and os.path.samefile(found, called)):
        return "moongate"
    return shlex.quote(str(called))
