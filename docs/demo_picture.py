"""Writes docs/demo.svg: the output of `moongate demo` on a terminal of 100 columns (`python -m docs.demo_picture`)."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from html import escape
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("demo.svg")
COLUMNS: Final = 100
CHARACTER: Final = 8.0  # width of a character, in pixels
LINE: Final = 18
MARGIN: Final = 16
STYLES: Final = {
    "1": 'font-weight="bold" fill="#ffffff"',
    "2": 'fill="#9aa5b1"',
    "31": 'fill="#ff7b72"',
    "32": 'fill="#7ee787"',
    "36": 'fill="#79c0ff"',
}


class Terminal(io.StringIO):
    """A text that says it is a terminal, so that the output has its colours."""

    def isatty(self) -> bool:
        return True


def output() -> str:
    """What `moongate demo` prints on a terminal."""
    from moongate.cli import main

    terminal = Terminal()
    before = dict(os.environ), sys.argv
    # A folder without gateways that run: the output would have a link to the first of them.
    os.environ.update(COLUMNS=str(COLUMNS), TERM="xterm", MOONGATE_HOME=os.devnull)
    os.environ.pop("NO_COLOR", None)
    sys.argv = ["moongate"]
    try:
        with contextlib.redirect_stdout(terminal):
            if main(["demo"]) != 0:
                raise RuntimeError("the demo failed")
    finally:
        os.environ.clear()
        os.environ.update(before[0])
        sys.argv = before[1]
    return terminal.getvalue()


def picture(text: str) -> str:
    """The text, with its colours, as SVG."""
    lines = text.rstrip("\n").split("\n")
    width = round(COLUMNS * CHARACTER + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    rows = [_row(line, MARGIN + (number + 1) * LINE - 5) for number, line in enumerate(lines) if line]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img" aria-label="The output of moongate demo">',
            f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#e6edf3">',
            *rows,
            "</g>",
            "</svg>",
            "",
        ]
    )


def _row(line: str, y: int) -> str:
    """One line of text. Each coloured part has its own place, so that the font's width does not matter."""
    parts = []
    column = 0
    style = ""
    for part in re.split(r"(\033\[\d+m)", line):
        if found := re.fullmatch(r"\033\[(\d+)m", part):
            style = STYLES.get(found[1], "")
        elif part:
            x = MARGIN + column * CHARACTER
            attributes = f" {style}" if style else ""
            length = f'textLength="{len(part) * CHARACTER:g}"'
            parts.append(f'<text x="{x:g}" y="{y}" xml:space="preserve" {length}{attributes}>{escape(part)}</text>')
            column += len(part)
    return "".join(parts)


if __name__ == "__main__":
    FILE.write_text(picture(output()), encoding="utf-8")
