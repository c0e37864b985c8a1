"""Whether growing text is JSON, may still become JSON, or can no longer.

A table of the grammar (RFC 8259), one row per state: character → next state. Each character is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum, IntEnum
from typing import Final

from moongate import payload
from moongate.wire.threads import let_threads_run


class Completeness(Enum):
    OPEN = "may still become JSON"
    COMPLETE = "is JSON"
    BROKEN = "can no longer become JSON"


OPEN, COMPLETE, BROKEN = Completeness  # aliases: looking a member up in its class is slow


SLICE: Final = 16 * 1024  # characters that are read before other threads may run


class _ScanState(IntEnum):
    """What is expected next, or what the scanner is inside of."""

    VALUE = 0
    FIRST_ITEM = 1  # a value or ]
    FIRST_KEY = 2  # a key or }
    KEY = 3
    COLON = 4
    NEXT = 5  # a comma, or the end of what is open
    STRING = 6
    ESCAPE = 7
    HEX_4 = 8  # hex digits left of \uXXXX
    HEX_3 = 9
    HEX_2 = 10
    HEX_1 = 11
    MINUS = 12
    ZERO = 13  # after a leading 0
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
    ERROR = 30


_VALUE, _FIRST_KEY, _KEY, _COLON, _NEXT = (
    _ScanState.VALUE,
    _ScanState.FIRST_KEY,
    _ScanState.KEY,
    _ScanState.COLON,
    _ScanState.NEXT,
)
_STRING, _ESCAPE, _ERROR = _ScanState.STRING, _ScanState.ESCAPE, _ScanState.ERROR

_Row = Mapping[str, _ScanState]
_DIGITS: Final = "0123456789"
_NUMBER_ENDS: Final = frozenset({_ScanState.ZERO, _ScanState.INTEGER, _ScanState.FRACTION, _ScanState.POWER})
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*').match
_OPENING: Final = re.compile(r"\[+").match
_CLOSING: Final = re.compile(r"\]+").match
_PAIRS: Final = {"{": "}", "[": "]", '"': '"'}


def _row(*targets: tuple[Iterable[str], _ScanState]) -> _Row:
    return {char: state for chars, state in targets for char in chars}


_VALUE_STARTS: Final = (
    ('"', _ScanState.STRING),
    ("{", _ScanState.FIRST_KEY),
    ("[", _ScanState.FIRST_ITEM),
    ("-", _ScanState.MINUS),
    ("0", _ScanState.ZERO),
    ("123456789", _ScanState.INTEGER),
    ("t", _ScanState.TR),
    ("f", _ScanState.FA),
    ("n", _ScanState.NU),
)
_WHITESPACE: Final = " \t\n\r"
_VALUE_ENDS: Final = (
    (_WHITESPACE, _ScanState.NEXT),
    (",}]", _ScanState.NEXT),
)  # what follows a comma depends on what is open

_ROWS: Final[tuple[_Row, ...]] = (
    _row((_WHITESPACE, _ScanState.VALUE), *_VALUE_STARTS),
    _row((_WHITESPACE, _ScanState.FIRST_ITEM), *_VALUE_STARTS, ("]", _ScanState.NEXT)),
    _row((_WHITESPACE, _ScanState.FIRST_KEY), ('"', _ScanState.STRING), ("}", _ScanState.NEXT)),
    _row((_WHITESPACE, _ScanState.KEY), ('"', _ScanState.STRING)),
    _row((_WHITESPACE, _ScanState.COLON), (":", _ScanState.VALUE)),
    _row(*_VALUE_ENDS),
    {},  # strings are read by a pattern
    _row(('"\\/bfnrt', _ScanState.STRING), ("u", _ScanState.HEX_4)),
    *(
        _row(("0123456789abcdefABCDEF", following))
        for following in (_ScanState.HEX_3, _ScanState.HEX_2, _ScanState.HEX_1, _ScanState.STRING)
    ),
    _row(("0", _ScanState.ZERO), ("123456789", _ScanState.INTEGER)),
    _row((".", _ScanState.POINT), ("eE", _ScanState.EXPONENT), *_VALUE_ENDS),
    _row((_DIGITS, _ScanState.INTEGER), (".", _ScanState.POINT), ("eE", _ScanState.EXPONENT), *_VALUE_ENDS),
    _row((_DIGITS, _ScanState.FRACTION)),
    _row((_DIGITS, _ScanState.FRACTION), ("eE", _ScanState.EXPONENT), *_VALUE_ENDS),
    _row((_DIGITS, _ScanState.POWER), ("+-", _ScanState.SIGN)),
    _row((_DIGITS, _ScanState.POWER)),
    _row((_DIGITS, _ScanState.POWER), *_VALUE_ENDS),
    *(_row((char, state)) for char, state in zip("rue", (_ScanState.RU, _ScanState.UE, _ScanState.NEXT), strict=True)),
    *(
        _row((char, state))
        for char, state in zip("alse", (_ScanState.AL, _ScanState.LS, _ScanState.SE, _ScanState.NEXT), strict=True)
    ),
    *(_row((char, state)) for char, state in zip("ull", (_ScanState.UL, _ScanState.LL, _ScanState.NEXT), strict=True)),
    {},
)


def is_json(text: str) -> bool:
    """Whether the text is one JSON value of any type. Depth and size of numbers do not matter."""
    if accepts(text):
        return True
    scanner = JsonScanner()
    scanner.feed(text)
    return scanner.completeness is COMPLETE


def accepts(text: str) -> bool:
    """A fast test: True means JSON; text that is refused here may still be JSON for the scanner."""
    return text != "" and _PAIRS.get(text[0], text[-1]) == text[-1] and payload.accepts(text)


class JsonScanner:
    """`feed` text, read its `completeness` at any time."""

    __slots__ = ("_key", "_open", "_state", "was_complete")

    def __init__(self) -> None:
        self._state = _VALUE
        self._open = bytearray()  # the closing brackets of what is open
        self._key = False  # the current string is a key
        self.was_complete = False  # it was complete before the character that broke it

    @property
    def completeness(self) -> Completeness:
        if self._state is _ERROR:
            return BROKEN
        return COMPLETE if not self._open and (self._state is _NEXT or self._state in _NUMBER_ENDS) else OPEN

    @property
    def in_string(self) -> bool:
        return self._state is _STRING

    def feed(self, text: str) -> int:
        """Read on. Returns how many characters were read: all, or up to and with the one that broke it."""
        if len(text) <= SLICE:
            return self._feed(text)
        for at in range(0, len(text), SLICE):
            let_threads_run()
            read = self._feed(text[at : at + SLICE])
            if self._state is _ERROR:
                return at + read
        return len(text)

    def _feed(self, text: str) -> int:
        pos, end, state, nested = 0, len(text), self._state, self._open
        while pos < end:
            if state is _STRING:
                pos = _PLAIN(text, pos).end()  # type: ignore[union-attr]  # it always matches
                if pos < end:
                    state = self._in_string(text[pos])
                    pos += 1
                    if state is _ERROR:
                        break
                continue
            char = text[pos]
            pos += 1
            following = _ROWS[state].get(char, _ERROR)
            if following is _STRING and state < _ESCAPE:  # a string begins
                self._key = state is _KEY or state is _FIRST_KEY
            elif char == "[" and following is not _ERROR:
                run = _OPENING(text, pos - 1).end()  # type: ignore[union-attr]  # it matches this one at least
                nested += b"]" * (run - pos + 1)
                pos = run
            elif char == "{" and following is not _ERROR:
                nested += b"}"
            elif char == "]" and following is not _ERROR:
                run = _CLOSING(text, pos - 1).end()  # type: ignore[union-attr]
                following = self._close(b"]" * (run - pos + 1))
                pos = run
            elif char in "},":
                following = self._after_value(char, following)
            if following is _ERROR:
                self.was_complete = not nested and (state is _NEXT or state in _NUMBER_ENDS)
                state = following
                break
            state = following
        self._state = state
        return pos

    def _in_string(self, char: str) -> _ScanState:
        if char == '"':
            return _COLON if self._key else _NEXT
        return _ESCAPE if char == "\\" else _ERROR

    def _after_value(self, char: str, following: _ScanState) -> _ScanState:
        """The state after a comma or a closing brace that the row allows."""
        if following is _ERROR or not self._open:
            return _ERROR
        if char == ",":
            return _KEY if self._open.endswith(b"}") else _VALUE
        return self._close(b"}")

    def _close(self, brackets: bytes) -> _ScanState:
        if not self._open.endswith(brackets):
            return _ERROR
        del self._open[-len(brackets) :]
        return _NEXT
