"""Is this text JSON, may it still become JSON, or never? Asked again and again while the text grows.

Each character is looked at once. Only `payload` knows a JSON library; this module knows the grammar (RFC 8259).
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from moongate import payload


class Shape(Enum):
    OPEN = "may still become JSON"
    WHOLE = "is JSON"
    BROKEN = "can no longer become JSON"


class _At(Enum):
    """What is expected next, or what we are inside of."""

    VALUE = "a value"
    FIRST_ITEM = "a value or ]"
    FIRST_KEY = "a key or }"
    KEY = "a key"
    COLON = ":"
    NEXT = ", or the end of what is open"
    STRING = "in a string"
    ESCAPE = "after a backslash"
    HEX = "in \\uXXXX"
    WORD = "in true, false or null"
    MINUS = "after -"
    ZERO = "after a leading 0"
    INTEGER = "in digits"
    POINT = "after the point"
    FRACTION = "in digits after the point"
    EXPONENT = "after e"
    SIGN = "after the sign of the exponent"
    POWER = "in the digits of the exponent"
    NOWHERE = "this is not JSON"


_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*').match
_BLANKS: Final = re.compile(r"[ \t\n\r]*").match
_DIGITS: Final = re.compile(r"[0-9]*").match
_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
_WORDS: Final = {"t": "rue", "f": "alse", "n": "ull"}

# Inside a number: what a character leads to. Digits are "9" here, e and E are "e", + and - are "+".
_NUMBER: Final = {
    (_At.MINUS, "0"): _At.ZERO,
    (_At.MINUS, "9"): _At.INTEGER,
    (_At.ZERO, "."): _At.POINT,
    (_At.ZERO, "e"): _At.EXPONENT,
    (_At.INTEGER, "."): _At.POINT,
    (_At.INTEGER, "e"): _At.EXPONENT,
    (_At.POINT, "0"): _At.FRACTION,
    (_At.POINT, "9"): _At.FRACTION,
    (_At.FRACTION, "e"): _At.EXPONENT,
    (_At.EXPONENT, "0"): _At.POWER,
    (_At.EXPONENT, "9"): _At.POWER,
    (_At.EXPONENT, "+"): _At.SIGN,
    (_At.SIGN, "0"): _At.POWER,
    (_At.SIGN, "9"): _At.POWER,
}
_CLASS: Final = {**dict.fromkeys("123456789", "9"), "0": "0", ".": ".", "e": "e", "E": "e", "+": "+", "-": "+"}
_ENDED: Final = frozenset({_At.ZERO, _At.INTEGER, _At.FRACTION, _At.POWER})  # a number may end here
_RUNS: Final = frozenset({_At.INTEGER, _At.FRACTION, _At.POWER})
_NUMBERS: Final = frozenset({_At.MINUS, _At.POINT, _At.EXPONENT, _At.SIGN, *_ENDED})


def is_json(text: str) -> bool:
    """Is it one JSON value, of any type? Depth and size of numbers do not matter."""
    try:
        payload.loads(text)
    except ValueError:
        scanner = JsonScanner()
        scanner.feed(text)
        return scanner.shape is Shape.WHOLE
    return True


class JsonScanner:
    __slots__ = ("_at", "_key", "_open", "_rest")

    def __init__(self) -> None:
        self._at = _At.VALUE
        self._open: list[str] = []  # the brackets that will close what is open
        self._key = False  # the string we are in is a key
        self._rest = ""  # of a word, or of \uXXXX

    @property
    def shape(self) -> Shape:
        if self._at is _At.NOWHERE:
            return Shape.BROKEN
        return Shape.WHOLE if not self._open and (self._at is _At.NEXT or self._at in _ENDED) else Shape.OPEN

    def feed(self, text: str) -> None:
        pos, end = 0, len(text)
        while pos < end and self._at is not _At.NOWHERE:
            at = self._at
            if at is _At.STRING:
                pos = self._string(text, pos)
            elif at is _At.ESCAPE or at is _At.HEX or at is _At.WORD:
                self._short(text[pos])
                pos += 1
            elif at in _NUMBERS:
                pos = self._number(text, pos)
            else:
                pos = _BLANKS(text, pos).end()  # type: ignore[union-attr]  # it matches nothing at least
                if pos < end:
                    self._structure(text[pos])
                    pos += 1

    def _string(self, text: str, pos: int) -> int:
        pos = _PLAIN(text, pos).end()  # type: ignore[union-attr]
        if pos == len(text):
            return pos
        if text[pos] == '"':
            self._at = _At.COLON if self._key else _At.NEXT
        elif text[pos] == "\\":
            self._at = _At.ESCAPE
        else:
            self._at = _At.NOWHERE
        return pos + 1

    def _short(self, char: str) -> None:
        """One character of an escape or of a word."""
        if self._at is _At.ESCAPE:
            self._at = _At.HEX if char == "u" else _At.STRING if char in '"\\/bfnrt' else _At.NOWHERE
            self._rest = "XXXX"
        elif self._at is _At.HEX:
            self._rest = self._rest[1:]
            self._at = _At.NOWHERE if char not in _HEX_DIGITS else _At.HEX if self._rest else _At.STRING
        else:
            expected, self._rest = self._rest[0], self._rest[1:]
            self._at = _At.NOWHERE if char != expected else _At.WORD if self._rest else _At.NEXT

    def _number(self, text: str, pos: int) -> int:
        if self._at in _RUNS:
            pos = _DIGITS(text, pos).end()  # type: ignore[union-attr]
            if pos == len(text):
                return pos
        following = _NUMBER.get((self._at, _CLASS.get(text[pos], "")))
        if following is not None:
            self._at = following
            return pos + 1
        self._at = _At.NEXT if self._at in _ENDED else _At.NOWHERE
        return pos  # what ended the number is read again

    def _structure(self, char: str) -> None:
        at = self._at
        if at is _At.NEXT:
            self._after_value(char)
        elif at is _At.COLON:
            self._at = _At.VALUE if char == ":" else _At.NOWHERE
        elif at is _At.KEY or at is _At.FIRST_KEY:
            if char == '"':
                self._at, self._key = _At.STRING, True
            else:
                self._at = self._closed(char) if at is _At.FIRST_KEY else _At.NOWHERE
        elif char == "]" and at is _At.FIRST_ITEM:
            self._at = self._closed(char)
        else:
            self._value(char)

    def _after_value(self, char: str) -> None:
        if char == "," and self._open:
            self._at = _At.KEY if self._open[-1] == "}" else _At.VALUE
        else:
            self._at = self._closed(char)

    def _closed(self, char: str) -> _At:
        return _At.NEXT if self._open and self._open.pop() == char else _At.NOWHERE

    def _value(self, char: str) -> None:
        if char == '"':
            self._at, self._key = _At.STRING, False
        elif char == "{":
            self._open.append("}")
            self._at = _At.FIRST_KEY
        elif char == "[":
            self._open.append("]")
            self._at = _At.FIRST_ITEM
        elif char in _WORDS:
            self._at, self._rest = _At.WORD, _WORDS[char]
        elif char == "-":
            self._at = _At.MINUS
        else:
            self._at = _NUMBER.get((_At.MINUS, _CLASS.get(char, "")), _At.NOWHERE)
