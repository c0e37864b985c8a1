"""Does a text match the regular expression of a schema? In linear time: all ways to match go forward together.

An expression becomes a graph of states (Thompson's construction). What is not checked is told by `None`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Final

from moongate.kimi.guard.pattern_syntax import (
    CLASSES,
    MAX_CHARS,
    Chars,
    Choice,
    Node,
    Place,
    Repeat,
    Series,
    Unreadable,
    read,
)

MAX_STATES: Final = 2000  # of an expression
MAX_TEXT: Final = 4096  # characters; longer texts are not checked
MAX_KEPT: Final = 64 * 1024  # characters and states of the expressions that are kept, a few megabytes
STATE_STEPS: Final = 2  # that it takes to look at a state
CHARS_PER_STEP: Final = 2  # of an expression that are read in about the time of a step, or states that are made
CHARS_PER_LOOK: Final = 16  # of a text that are looked at for those that engines read differently, likewise
MAX_CODE: Final = 0x110000

_END: Final = 0  # the state behind the whole expression
# Characters that are of a kind (`\\d`, `\\w`, `\\s`) for some engines and not for others.
_UNDECIDED: Final[dict[str, Callable[[str], bool]]] = {
    "d": lambda char: char.isdecimal() and not char.isascii(),
    "w": lambda char: char.isalnum() and not char.isascii(),
    "s": "\x1c\x1d\x1e\x1f\x85\ufeff".__contains__,
}


class _PatternState:
    """Takes a character, stands at a place, or does neither; `nexts` are the states behind it."""

    __slots__ = ("chars", "nexts", "place")

    def __init__(self, nexts: list[int], chars: Chars | None = None, place: str = "") -> None:
        self.nexts = nexts
        self.chars = chars
        self.place = place


class Pattern:
    """An expression, ready to be looked for. It may be used by several threads."""

    __slots__ = ("_begins_late", "_entry", "_kinds", "_states", "size")

    def __init__(self, text: str, spend: Callable[[int], None]) -> None:
        node, self._kinds = read(text)
        self.size = 1 + _size(node)  # its states
        if self.size > MAX_STATES:
            raise Unreadable
        spend(self.size // CHARS_PER_STEP)
        self._states: list[_PatternState] = [_PatternState([])]
        self._entry = self._added(node, _END)
        self._begins_late = self._may_begin_late()

    def is_found_in(self, text: str, spend: Callable[[int], None]) -> bool | None:
        """Whether a part of the text matches, None if that is not checked. `spend` is told the work."""
        if len(text) > MAX_TEXT:
            return None
        spend(len(self._kinds) * len(text) // CHARS_PER_LOOK)
        if any(any(map(_UNDECIDED[kind], text)) for kind in self._kinds):
            return None
        threads: set[int] = {self._entry}
        for at in range(len(text) + 1):
            seen = self._reached(threads, text, at)
            spend(len(seen) * STATE_STEPS)
            if _END in seen:
                return True
            threads = self._taken(seen, ord(text[at])) if at < len(text) else set()
            if self._begins_late:
                threads.add(self._entry)
            elif not threads:
                break
        return False

    def _reached(self, threads: Iterable[int], text: str, at: int) -> set[int]:
        """The states that are reached from these without another character."""
        seen, waiting = set[int](), list(threads)
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            state = self._states[number]
            if state.chars is None and (not state.place or _is_at(state.place, text, at)):
                waiting += state.nexts
        return seen

    def _taken(self, seen: Iterable[int], code: int) -> set[int]:
        """The states behind those that take this character."""
        states = (self._states[number] for number in seen)
        return {state.nexts[0] for state in states if state.chars is not None and _takes(state.chars, code)}

    def _may_begin_late(self) -> bool:
        """May a match begin behind the beginning of the text?"""
        seen, waiting = set[int](), [self._entry]
        while waiting:
            number = waiting.pop()
            state = self._states[number]
            if state.chars is not None or number == _END:
                return True
            if number not in seen and state.place != "start":
                waiting += state.nexts
            seen.add(number)
        return False

    def _added(self, node: Node, then: int) -> int:
        """Add the states of a part, which `then` follows; the number of its first one."""
        if isinstance(node, Chars):
            return self._add(_PatternState([then], chars=node))
        if isinstance(node, Place):
            return self._add(_PatternState([then], place=node.kind))
        if isinstance(node, Choice):
            return self._add(_PatternState([self._added(branch, then) for branch in node.branches]))
        if isinstance(node, Series):
            for part in reversed(node.parts):
                then = self._added(part, then)
            return then
        return self._repeated(node, then)

    def _repeated(self, node: Repeat, then: int) -> int:
        if node.most is None:
            loop = self._add(_PatternState([then]))
            self._states[loop].nexts.append(self._added(node.part, loop))
            first = loop
        else:
            first = then
            for _ in range(node.most - node.least):
                first = self._add(_PatternState([then, self._added(node.part, first)]))
        for _ in range(node.least):
            before, first = first, self._added(node.part, first)
            if first == before:  # nothing is repeated
                break
        return first

    def _add(self, state: _PatternState) -> int:
        self._states.append(state)
        return len(self._states) - 1


class _KeptPatterns:
    """Expressions that were read before. When there are too many, all are forgotten: clients choose them."""

    def __init__(self) -> None:
        self._patterns: dict[str, Pattern | None] = {}
        self._size = 0

    def find(self, text: str, spend: Callable[[int], None]) -> Pattern | None:
        patterns = self._patterns
        if text in patterns:
            return patterns[text]
        spend(min(len(text), MAX_CHARS) // CHARS_PER_STEP)
        try:
            found: Pattern | None = Pattern(text, spend)
        except Unreadable:
            found = None
        size = len(text) + (0 if found is None else found.size)
        if self._size + size > MAX_KEPT:
            patterns, self._size = {}, 0
        if size <= MAX_KEPT:
            patterns[text] = found
            self._patterns, self._size = patterns, self._size + size
        return found


_KEPT: Final = _KeptPatterns()


def pattern_of(text: str, spend: Callable[[int], None] = lambda _: None) -> Pattern | None:
    """The expression, None if it is not checked. `spend` is told the work of reading it, if it is new.

    >>> pattern_of("^[a-z]+$").is_found_in("abc", spend=[].append)
    True
    """
    return _KEPT.find(text, spend)


def _size(node: Node) -> int:
    """The states of a part, as `Pattern` adds them."""
    if isinstance(node, Chars | Place):
        return 1
    if isinstance(node, Choice):
        return 1 + sum(map(_size, node.branches))
    if isinstance(node, Series):
        return sum(map(_size, node.parts))
    part = _size(node.part)
    further = part + 1 if node.most is None else (node.most - node.least) * (part + 1)
    return node.least * part + further


def _takes(chars: Chars, code: int) -> bool:
    before = bisect_right(chars.ranges, (code, MAX_CODE)) - 1  # the last range that begins there or before
    return (before >= 0 and code <= chars.ranges[before][1]) is not chars.negated


def _is_at(place: str, text: str, at: int) -> bool:
    if place == "start":
        return at == 0
    if place == "end":
        return at == len(text)
    return (_is_word(text[at - 1 : at]) is not _is_word(text[at : at + 1])) is (place == "edge")


_WORD: Final = Chars(CLASSES["w"])


def _is_word(char: str) -> bool:
    return bool(char) and _takes(_WORD, ord(char))
