"""Colour on a terminal, and only there."""

from __future__ import annotations

import os
import sys
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
