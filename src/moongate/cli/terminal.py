"""Output for a terminal: colour and folded lines only there, and commands that can be pasted."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TextIO

_CODES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Colours:
    """`paint("text", "bold")`; plain text if `stream` (default: stdout) is no terminal or NO_COLOR is set."""

    def __init__(self, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ) -> None:
        stream = stream or sys.stdout
        self._on = stream.isatty() and "NO_COLOR" not in environ and environ.get("TERM") != "dumb"

    def __call__(self, text: str, style: str) -> str:
        return f"\033[{_CODES[style]}m{text}\033[0m" if self._on else text


def open_standard_streams() -> None:
    """Connect closed standard streams (`>&-`) to nothing: else the next file or socket gets the number of one of them.

    To be called before anything else is opened.
    """
    for descriptor in range(3):
        with contextlib.suppress(OSError):
            os.fstat(descriptor)
            continue
        os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (for as long as the process)


def warn(text: str) -> None:
    """Print a warning. A standard error that cannot be written is no reason to stop."""
    from moongate.gateway.record.messages import write_stderr  # not before: `moongate --version` needs none of it

    write_stderr(f"{Colours(sys.stderr)('warning:', 'yellow')} {text}\n")


def fitted(line: str, stream: TextIO | None = None, columns: int | None = None) -> str:
    """The line, folded with an indent to the terminal's columns; unchanged if the stream is no terminal."""
    columns = columns or shutil.get_terminal_size().columns
    if not (stream or sys.stdout).isatty() or len(line) <= columns or "\033" in line:
        return line
    import textwrap

    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, max(columns, 40), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def command(program: str | None = None, python: str = sys.executable, search_path: str | None = None) -> str:
    """The command that starts this program again: `moongate` only if the shell would find this very file.

    `program` is how it was started (default: `sys.argv[0]`), `search_path` the shell's PATH (default: this process's).
    """
    started = Path(sys.argv[0] if program is None else program)
    if started.name == "__main__.py":
        name = Path(python).name
        return f"{shlex.quote(name if shutil.which(name, path=search_path) == python else python)} -m moongate"
    found = shutil.which("moongate", path=search_path)
    if started.name != "moongate" or not started.exists() or (found and os.path.samefile(found, started)):
        return "moongate"
    return shlex.quote(str(started))
