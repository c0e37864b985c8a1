"""Where a JSON value that comes in pieces ends, without parsing it twice."""

from __future__ import annotations

import re

_MARKS = re.compile(r'["\\{}\[\]]')


class Nesting:
    """Follows the brackets of a JSON object or array. `complete` once the outermost one is closed."""

    __slots__ = ("_depth", "_in_string", "_skip", "complete")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._skip = False  # the character after a backslash that ended the last piece
        self.complete = False

    def feed(self, text: str) -> None:
        """The next piece of the text. Linear in its length."""
        if self.complete or not text:
            return
        at = 1 if self._skip else 0
        self._skip = False
        while found := _MARKS.search(text, at):
            at = found.end()
            mark = found[0]
            if mark == '"':
                self._in_string = not self._in_string
            elif mark == "\\":
                if self._in_string:
                    self._skip = at == len(text)
                    at += 1
            elif not self._in_string:
                self._depth += 1 if mark in "{[" else -1
                if self._depth == 0:
                    self.complete = True
                    return
