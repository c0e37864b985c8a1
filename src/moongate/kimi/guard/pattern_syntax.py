"""Reads the regular expressions of schemas (`pattern`), as ECMA-262 writes them.

Read is what all engines understand alike and what takes linear time. Look-around, references to groups, properties of
characters, flags and what Python and JavaScript read differently are not: such a pattern is not checked.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_CHARS: Final = 2048  # of an expression
MAX_GROUPS: Final = 32  # inside one another

Ranges = tuple[tuple[int, int], ...]


class Chars(NamedTuple):
    """One character of these ranges, or none of them. They are in order and do not overlap."""

    ranges: Ranges
    negated: bool = False


class Place(NamedTuple):
    """A place between characters: `start`, `end`, `edge` of a word, or `no edge`."""

    kind: str


class Series(NamedTuple):
    parts: tuple[Node, ...]


class Choice(NamedTuple):
    branches: tuple[Node, ...]


class Repeat(NamedTuple):
    part: Node
    least: int
    most: int | None


Node = Chars | Place | Series | Choice | Repeat


class Unreadable(Exception):
    """The expression is wrong, or has something that is not checked."""


_DIGITS: Final[Ranges] = ((48, 57),)
_WORD: Final[Ranges] = (*_DIGITS, (65, 90), (95, 95), (97, 122))
_BLANKS: Final[Ranges] = (
    *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
CLASSES: Final = {"d": _DIGITS, "w": _WORD, "s": _BLANKS}
_LINE_ENDS: Final[Ranges] = ((10, 10), (13, 13), (0x2028, 0x2029))
_CONTROLS: Final = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}
_EDGES: Final = {"b": "edge", "B": "no edge"}
_CODE: Final = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}")
_COUNT: Final = re.compile(r"\{([0-9]{1,5})(,([0-9]{0,5}))?\}")
_GROUP: Final = re.compile(r"\?(?::|P?<[A-Za-z_][A-Za-z0-9_]{0,63}>)")
_SIMPLE: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def read(text: str) -> tuple[Node, frozenset[str]]:
    """The expression, and which kinds of characters it asks for: `d`, `s`, `w`. Raises Unreadable."""
    if len(text) > MAX_CHARS:
        raise Unreadable
    reader = _PatternReader(text)
    node = reader.choice(0)
    if not reader.is_at_end():
        raise Unreadable
    return node, frozenset(reader.kinds)


class _PatternReader:
    """An expression and how far it is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.kinds = set[str]()

    def is_at_end(self) -> bool:
        return self._at == len(self._text)

    def choice(self, depth: int) -> Node:
        if depth > MAX_GROUPS:
            raise Unreadable
        branches = [self._series(depth)]
        while self._takes("|"):
            branches.append(self._series(depth))
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _series(self, depth: int) -> Node:
        parts: list[Node] = []
        while not self.is_at_end() and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._one(depth)))
        return Series(tuple(parts))

    def _one(self, depth: int) -> Node:
        char = self._next()
        if char == "(":
            return self._group(depth)
        if char == "[":
            return self._set()
        if char == "\\":
            return self._escaped()
        if char in "^$":
            return Place("start" if char == "^" else "end")
        if char == ".":
            return Chars(_LINE_ENDS, negated=True)
        if char in "*+?" or (char == "{" and _COUNT.match(self._text, self._at - 1)):
            raise Unreadable  # nothing is repeated
        return _single(ord(char))

    def _group(self, depth: int) -> Node:
        if self._text.startswith("?", self._at):
            found = _GROUP.match(self._text, self._at)
            if found is None:
                raise Unreadable
            self._at = found.end()
        node = self.choice(depth + 1)
        if not self._takes(")"):
            raise Unreadable
        return node

    def _repeated(self, node: Node) -> Node:
        head = self._text[self._at : self._at + 1]
        count = _COUNT.match(self._text, self._at)
        if count is not None:
            self._at = count.end()
            least = int(count[1])
            most = least if count[2] is None else int(count[3]) if count[3] else None
        elif head in _SIMPLE:
            self._at += 1
            least, most = _SIMPLE[head]
        else:
            return node
        self._takes("?")  # as few as possible: the same texts match
        ahead = self._text[self._at : self._at + 1]
        is_again = ahead in _SIMPLE or _COUNT.match(self._text, self._at)
        if isinstance(node, Place) or is_again or (most is not None and most < least):
            raise Unreadable
        return Repeat(node, least, most)

    def _escaped(self) -> Node:
        char = self._text[self._at : self._at + 1]
        if char in _EDGES:
            self._at += 1
            self.kinds.add("w")
            return Place(_EDGES[char])
        return self._class() or _single(self._code())

    def _class(self) -> Chars | None:
        """A class like `\\d`, behind its backslash."""
        char = self._text[self._at : self._at + 1]
        ranges = CLASSES.get(char.lower())
        if ranges is None:
            return None
        self._at += 1
        self.kinds.add(char.lower())
        return Chars(ranges, negated=char.isupper())

    def _code(self) -> int:
        """The one character that an escape stands for, behind its backslash."""
        found = _CODE.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
            return int(found[1] or found[2] or found[3], 16)
        char = self._next()
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char.isalnum():
            raise Unreadable  # a reference, a property, or what engines read differently
        return ord(char)

    def _set(self) -> Node:
        negated = self._takes("^")
        if self._text.startswith("]", self._at):
            raise Unreadable  # engines disagree whether the set ends here
        ranges: list[tuple[int, int]] = []
        while not self._takes("]"):
            low = self._member()
            is_range = self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at)
            if isinstance(low, Chars):
                if low.negated or is_range:
                    raise Unreadable
                ranges += low.ranges
                continue
            high: int | Chars = low
            if is_range:
                self._at += 1
                high = self._member()
            if isinstance(high, Chars) or high < low:
                raise Unreadable
            ranges.append((low, high))
        return Chars(_merged(ranges), negated)

    def _member(self) -> int | Chars:
        """A character or a class inside of a set."""
        char = self._next()
        if char != "\\":
            return ord(char)
        if self._takes("b"):
            return 8
        return self._class() or self._code()

    def _next(self) -> str:
        if self.is_at_end():
            raise Unreadable
        self._at += 1
        return self._text[self._at - 1]

    def _takes(self, mark: str) -> bool:
        found = self._text.startswith(mark, self._at)
        self._at += len(mark) if found else 0
        return found


def _merged(ranges: list[tuple[int, int]]) -> Ranges:
    """The ranges in order; those that overlap are one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return tuple(found)


def _single(code: int) -> Chars:
    return Chars(((code, code),))
