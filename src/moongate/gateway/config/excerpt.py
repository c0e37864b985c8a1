"""The line at which parsing a file failed, for an error message: names and punctuation as they are, values hidden.

The file was not parsed, so it is not known which of its texts are secrets: none is shown.
"""

from __future__ import annotations

import re
from typing import Final

WIDTH: Final = 100
_HIDDEN: Final = "…"
_TOKEN: Final = re.compile(
    r'(?P<name>"[$A-Za-z_]{1,30}"(?=[ \t]*:))|(?P<mark>[{}\[\],:\s]|\b(?:true|false|null)\b)'
    r'|(?P<text>"(?:[^"\\]|\\.)*")|(?P<rest>"(?:[^"\\]|\\.)*\\?$|//.*|[^{}\[\],:\s"]+)'
)


def excerpt(line: str, number: int, column: int) -> str:
    """Line `number` with an arrow below `column`, as two more lines of a message; "" if the line is blank."""
    if not line.strip():
        return ""
    shown, arrow = "", None
    for token in _TOKEN.finditer(line):
        if arrow is None and token.end() >= column:
            arrow = len(shown) + (column - 1 - token.start() if token["name"] or token["mark"] else 0)
        shown += _masked(token)
    arrow = len(shown) if arrow is None else arrow
    blanks = len(shown) - len(shown.lstrip())
    shown, arrow = shown.strip().expandtabs(1), max(arrow - blanks, 0)
    cut = max(arrow - WIDTH // 2, 0)
    head = f"  {number} | "
    return f"\n{head}{shown[cut : cut + WIDTH]}\n{' ' * (len(head) + arrow - cut)}^"


def _masked(token: re.Match[str]) -> str:
    if token["name"] or token["mark"]:
        return token[0]
    return f'"{_HIDDEN}"' if token["text"] else _HIDDEN
