"""The line of a file at which reading it failed, for people: names and marks as they stand, values hidden.

The file was not understood, so nobody knows which of its texts are keys: none is shown.
"""

from __future__ import annotations

import re
from typing import Final

WIDTH: Final = 100
_HIDDEN: Final = "…"
_PIECE: Final = re.compile(
    r'(?P<name>"[$A-Za-z_]{1,30}"(?=[ \t]*:))|(?P<mark>[{}\[\],:\s]|\b(?:true|false|null)\b)'
    r'|(?P<text>"(?:[^"\\]|\\.)*")|(?P<rest>"(?:[^"\\]|\\.)*\\?$|//.*|[^{}\[\],:\s"]+)'
)


def excerpt(line: str, number: int, column: int) -> str:
    """Line `number` and an arrow below its `column`, as two more lines of a message; "" if the line is blank."""
    if not line.strip():
        return ""
    shown, arrow = "", None
    for piece in _PIECE.finditer(line):
        if arrow is None and piece.end() >= column:
            arrow = len(shown) + (column - 1 - piece.start() if piece["name"] or piece["mark"] else 0)
        shown += _told(piece)
    arrow = len(shown) if arrow is None else arrow
    blanks = len(shown) - len(shown.lstrip())
    shown, arrow = shown.strip().expandtabs(1), max(arrow - blanks, 0)
    cut = max(arrow - WIDTH // 2, 0)
    head = f"  {number} | "
    return f"\n{head}{shown[cut : cut + WIDTH]}\n{' ' * (len(head) + arrow - cut)}^"


def _told(piece: re.Match[str]) -> str:
    if piece["name"] or piece["mark"]:
        return piece[0]
    return f'"{_HIDDEN}"' if piece["text"] else _HIDDEN
