"""A text that matches a regular expression of a JSON Schema `pattern`, for the common part of the language.

Literals, classes, escapes, groups, alternatives, repetitions and anchors are understood. What is not is noticed by
checking the result: then there is no text. Only a pattern that a backtracking engine may need long for is not checked.
"""

from __future__ import annotations

import re
from typing import Final

MAX_PATTERN: Final = 300  # characters; a longer pattern gets no text
MAX_TEXT: Final = 2000
MAX_NESTED_TEXT: Final = 16  # characters that a pattern with nested repetitions is tried on
_CLASSES: Final = {"d": "7", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_CONTROL: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_OUTSIDE: Final = "a7-_ .A@#"  # tried for a negated class
_BOUNDS: Final = re.compile(r"\{([0-9]{1,4})(?:,([0-9]{0,4}))?\}")
_RESERVED: Final = re.compile(r"\[\[|--|&&|\|\||~~")  # set operations: Python warns of them
# A pattern that could take a backtracking engine long: a repetition inside a repeated group.
_NESTED: Final = re.compile(r"[*+}][^()]*\)[*+{]")


def text_for(pattern: str, shortest: int = 0, wished: str = "") -> str | None:
    """A text of at least `shortest` characters that matches the pattern, or None if none was found.

    It is the wished one if that matches.
    """
    if len(pattern) > MAX_PATTERN or _RESERVED.search(pattern):
        return None
    try:
        compiled = re.compile(pattern)
    except re.error:
        return None
    nested = _NESTED.search(pattern) is not None
    if shortest <= len(wished) <= (MAX_NESTED_TEXT if nested else MAX_TEXT) and compiled.search(wished):
        return wished
    if nested:
        text = _PatternWriter(pattern, 0).read()
        return text if len(text) >= shortest else None
    for wanted in dict.fromkeys((0, 1, min(shortest, MAX_TEXT))):
        text = _PatternWriter(pattern, wanted).read()[:MAX_TEXT]
        for candidate in (text, text.ljust(shortest, "a")):
            if len(candidate) >= shortest and compiled.search(candidate):
                return candidate
    return None


class _PatternWriter:
    """Reads a pattern once and writes a text beside it. `wanted`: how often an open repetition is repeated."""

    def __init__(self, pattern: str, wanted: int) -> None:
        self._pattern = pattern
        self._wanted = wanted
        self._at = 0

    def read(self) -> str:
        """The text of the pattern up to the end of the group; the first alternative is taken."""
        alternatives = [""]
        while self._at < len(self._pattern):
            char = self._take()
            if char == ")":
                break
            if char == "|":
                alternatives.append("")
            elif char not in "^$":
                alternatives[-1] = (alternatives[-1] + self._repeated(self._atom(char)))[:MAX_TEXT]
        return alternatives[0]

    def _take(self) -> str:
        char = self._pattern[self._at : self._at + 1]
        self._at += 1
        return char

    def _atom(self, char: str) -> str:
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == "\\":
            escaped = self._take()
            return "" if escaped in "bBAZ" else _CLASSES.get(escaped) or _CONTROL.get(escaped, escaped)
        return "a" if char == "." else char

    def _group(self) -> str:
        found = re.compile(r"\?(?::|P?<[A-Za-z_]\w*>|[=!]|<[=!])").match(self._pattern, self._at)
        kind = found.group() if found else ""
        self._at += len(kind)
        text = self.read()
        return "" if kind in ("?=", "?!", "?<=", "?<!") else text

    def _class(self) -> str:
        """One character of a class."""
        end = self._pattern.find("]", self._at + 2 if self._pattern.startswith("^", self._at) else self._at + 1)
        while end > 0 and self._pattern[end - 1] == "\\" and self._pattern[end - 2] != "\\":
            end = self._pattern.find("]", end + 1)
        inner = self._pattern[self._at : end] if end > 0 else ""
        self._at += len(inner) + 1
        allowed = re.compile(f"[{inner}]") if inner else None
        candidates = ([] if inner.startswith("^") else [self._first(inner)]) + list(_OUTSIDE)
        return next((char for char in candidates if allowed and allowed.fullmatch(char)), "")

    @staticmethod
    def _first(inner: str) -> str:
        return (_CLASSES.get(inner[1:2]) or inner[1:2]) if inner.startswith("\\") else inner[:1]

    def _repeated(self, text: str) -> str:
        char = self._pattern[self._at : self._at + 1]
        low, high = 1, 1
        if char and char in "*+?":
            self._at += 1
            low, high = (0, 1) if char == "?" else (int(char == "+"), MAX_TEXT)
        elif bounds := _BOUNDS.match(self._pattern, self._at):
            self._at = bounds.end()
            low = int(bounds[1])
            high = low if bounds[2] is None else int(bounds[2] or MAX_TEXT)
        else:
            return text
        if self._pattern.startswith("?", self._at):  # a lazy repetition
            self._at += 1
        return text * max(low, min(high, self._wanted))
