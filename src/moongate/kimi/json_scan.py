"""Is this text JSON, may it still become JSON, or never? Asked again and again while the text grows.

A table of the grammar (RFC 8259), one row per state: character → next state. Each character is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum, IntEnum
from typing import Final

from moongate import payload


class Shape(Enum):
    OPEN = "may still become JSON"
    WHOLE = "is JSON"
    BROKEN = "can no longer become JSON"


OPEN, WHOLE, BROKEN = Shape  # to look a member up in its class is slow


class _At(IntEnum):
    """What is expected next, or what we are inside of."""

    VALUE = 0
    FIRST_ITEM = 1  # a value or ]
    FIRST_KEY = 2  # a key or }
    KEY = 3
    COLON = 4
    NEXT = 5  # a comma, or the end of what is open
    STRING = 6
    ESCAPE = 7
    HEX_4 = 8  # digits to come of \uXXXX
    HEX_3 = 9
    HEX_2 = 10
    HEX_1 = 11
    MINUS = 12
    ZERO = 13  # behind a leading 0
    INTEGER = 14
    POINT = 15
    FRACTION = 16
    EXPONENT = 17
    SIGN = 18
    POWER = 19
    TR = 20  # in true, false, null
    RU = 21
    UE = 22
    FA = 23
    AL = 24
    LS = 25
    SE = 26
    NU = 27
    UL = 28
    LL = 29
    NOWHERE = 30


_VALUE, _FIRST_KEY, _KEY, _COLON, _NEXT = _At.VALUE, _At.FIRST_KEY, _At.KEY, _At.COLON, _At.NEXT
_STRING, _ESCAPE, _NOWHERE = _At.STRING, _At.ESCAPE, _At.NOWHERE

_Row = Mapping[str, _At]
_DIGITS: Final = "0123456789"
_NUMBER_ENDS: Final = frozenset({_At.ZERO, _At.INTEGER, _At.FRACTION, _At.POWER})
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*').match
_OPENING: Final = re.compile(r"\[+").match
_CLOSING: Final = re.compile(r"\]+").match
_PAIRS: Final = {"{": "}", "[": "]", '"': '"'}


def _row(*targets: tuple[Iterable[str], _At]) -> _Row:
    return {char: at for chars, at in targets for char in chars}


_BEGIN: Final = (
    ('"', _At.STRING),
    ("{", _At.FIRST_KEY),
    ("[", _At.FIRST_ITEM),
    ("-", _At.MINUS),
    ("0", _At.ZERO),
    ("123456789", _At.INTEGER),
    ("t", _At.TR),
    ("f", _At.FA),
    ("n", _At.NU),
)
_BLANK: Final = " \t\n\r"
_AFTER: Final = ((_BLANK, _At.NEXT), (",}]", _At.NEXT))  # a comma leads on by what is open

_ROWS: Final[tuple[_Row, ...]] = (
    _row((_BLANK, _At.VALUE), *_BEGIN),
    _row((_BLANK, _At.FIRST_ITEM), *_BEGIN, ("]", _At.NEXT)),
    _row((_BLANK, _At.FIRST_KEY), ('"', _At.STRING), ("}", _At.NEXT)),
    _row((_BLANK, _At.KEY), ('"', _At.STRING)),
    _row((_BLANK, _At.COLON), (":", _At.VALUE)),
    _row(*_AFTER),
    {},  # strings are not read by character
    _row(('"\\/bfnrt', _At.STRING), ("u", _At.HEX_4)),
    *(_row(("0123456789abcdefABCDEF", following)) for following in (_At.HEX_3, _At.HEX_2, _At.HEX_1, _At.STRING)),
    _row(("0", _At.ZERO), ("123456789", _At.INTEGER)),
    _row((".", _At.POINT), ("eE", _At.EXPONENT), *_AFTER),
    _row((_DIGITS, _At.INTEGER), (".", _At.POINT), ("eE", _At.EXPONENT), *_AFTER),
    _row((_DIGITS, _At.FRACTION)),
    _row((_DIGITS, _At.FRACTION), ("eE", _At.EXPONENT), *_AFTER),
    _row((_DIGITS, _At.POWER), ("+-", _At.SIGN)),
    _row((_DIGITS, _At.POWER)),
    _row((_DIGITS, _At.POWER), *_AFTER),
    *(_row((char, at)) for char, at in zip("rue", (_At.RU, _At.UE, _At.NEXT), strict=True)),
    *(_row((char, at)) for char, at in zip("alse", (_At.AL, _At.LS, _At.SE, _At.NEXT), strict=True)),
    *(_row((char, at)) for char, at in zip("ull", (_At.UL, _At.LL, _At.NEXT), strict=True)),
    {},
)


def is_json(text: str) -> bool:
    """Is it one JSON value, of any type? Depth and size of numbers do not matter."""
    if accepts(text):
        return True
    scanner = JsonScanner()
    scanner.feed(text)
    return scanner.shape is WHOLE


def accepts(text: str) -> bool:
    """Is it JSON at first sight? If not, a scanner may still find that it is."""
    return text != "" and _PAIRS.get(text[0], text[-1]) == text[-1] and payload.accepts(text)


class JsonScanner:
    """`feed` text, ask for its `shape` at any time."""

    __slots__ = ("_at", "_key", "_open", "was_whole")

    def __init__(self) -> None:
        self._at = _VALUE
        self._open = bytearray()  # the brackets that will close what is open
        self._key = False  # the string we are in is a key
        self.was_whole = False  # BROKEN, but whole up to the character that broke it

    @property
    def shape(self) -> Shape:
        if self._at is _NOWHERE:
            return BROKEN
        return WHOLE if not self._open and (self._at is _NEXT or self._at in _NUMBER_ENDS) else OPEN

    @property
    def in_string(self) -> bool:
        return self._at is _STRING

    def feed(self, text: str) -> int:
        """Read on. How many characters were read: all of them, or up to and with the one that broke it."""
        pos, end, at, nested = 0, len(text), self._at, self._open
        while pos < end:
            if at is _STRING:
                pos = _PLAIN(text, pos).end()  # type: ignore[union-attr]  # it matches nothing at least
                if pos < end:
                    at = self._in_string(text[pos])
                    pos += 1
                    if at is _NOWHERE:
                        break
                continue
            char = text[pos]
            pos += 1
            following = _ROWS[at].get(char, _NOWHERE)
            if following is _STRING and at < _ESCAPE:  # a string begins
                self._key = at is _KEY or at is _FIRST_KEY
            elif char == "[" and following is not _NOWHERE:
                run = _OPENING(text, pos - 1).end()  # type: ignore[union-attr]  # it matches this one at least
                nested += b"]" * (run - pos + 1)
                pos = run
            elif char == "{" and following is not _NOWHERE:
                nested += b"}"
            elif char == "]" and following is not _NOWHERE:
                run = _CLOSING(text, pos - 1).end()  # type: ignore[union-attr]
                following = self._close(b"]" * (run - pos + 1))
                pos = run
            elif char in "},":
                following = self._after_value(char, following)
            if following is _NOWHERE:
                self.was_whole = not nested and (at is _NEXT or at in _NUMBER_ENDS)
                at = following
                break
            at = following
        self._at = at
        return pos

    def _in_string(self, char: str) -> _At:
        if char == '"':
            return _COLON if self._key else _NEXT
        return _ESCAPE if char == "\\" else _NOWHERE

    def _after_value(self, char: str, following: _At) -> _At:
        """Behind a comma or a closing brace, where the row allows them."""
        if following is _NOWHERE or not self._open:
            return _NOWHERE
        if char == ",":
            return _KEY if self._open.endswith(b"}") else _VALUE
        return self._close(b"}")

    def _close(self, brackets: bytes) -> _At:
        if not self._open.endswith(brackets):
            return _NOWHERE
        del self._open[-len(brackets) :]
        return _NEXT
