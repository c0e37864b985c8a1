"""The arguments of one call as they come: what may leave, whether they are JSON yet, and their repair (5.3, 5.6)."""

from __future__ import annotations

import re
from typing import Final

from moongate import payload
from moongate.kimi.json_scan import BROKEN, WHOLE, JsonScanner, Shape, accepts
from moongate.kimi.lexer import Lexer
from moongate.kimi.markers import Marker

has_control: Final = re.compile(r"[\x00-\x1f]").search
_STRETCH: Final = re.compile(r'[^"\\]+|\\.?|"', re.DOTALL).sub
_MAY_END: Final = frozenset('}]"0123456789el')  # what JSON may end with
_ESCAPES: Final = {chr(code): payload.dumps_text(chr(code))[1:-1] for code in range(0x20)}


class Mender:
    """Escapes raw control characters inside JSON strings, piece by piece."""

    __slots__ = ("_escaped", "in_string")

    def __init__(self) -> None:
        self.in_string = False
        self._escaped = False  # the last character was a backslash

    def feed(self, text: str) -> str:
        first = ""
        if self._escaped:  # whatever follows the backslash: a control character is no layout there
            first, text = text[:1], text[1:]
            self._escaped = False
        if has_control(text) is None and "\\" not in text:
            self.in_string ^= text.count('"') % 2 == 1
        elif self.in_string and '"' not in text and "\\" not in text:
            text = _escaped(text)
        else:
            text = _STRETCH(self._mended, text)
        return first + text

    def _mended(self, stretch: re.Match[str]) -> str:
        text = stretch[0]
        if text == '"':
            self.in_string = not self.in_string
        elif text == "\\":
            self._escaped = True  # the text ends here
        elif self.in_string and text[0] != "\\" and has_control(text) is not None:
            return _escaped(text)
        return text


def _escaped(text: str) -> str:
    """The text with its control characters escaped. A few steps, however many there are (`translate` is slow)."""
    for char, escape in _ESCAPES.items():
        if char in text:
            text = text.replace(char, escape)
    return text


class Arguments:
    """Blanks around them are dropped. With `mend` they are repaired on the way."""

    __slots__ = ("_blanks", "_mark", "_mender", "_noise", "_parts", "_scanner", "_tail", "_wrapped")

    def __init__(self, mend: bool) -> None:
        self._parts: list[str] = []  # all that was said, without the blanks around it
        self._blanks: list[str] = []  # they leave only if something follows them
        self._scanner: JsonScanner | None = None
        self._mark = 0  # how many parts were said before the doubt
        self._mender = Mender() if mend else None
        self._wrapped = False  # a JSON string: it may hold the object, so it waits
        self._tail: list[str] = []  # markers behind the value and what follows them: cut if there are only markers
        self._noise = False

    def feed(self, text: str) -> str:
        """What may leave now."""
        if self._tail:
            self._tail.append(text)
            self._noise = self._noise or bool(text.strip())
            return ""
        parts = self._parts
        if not parts:
            text = text.lstrip()
        bare = text.rstrip()
        if not bare:
            if parts:
                self._blanks.append(text)
            return ""
        size = len(bare)
        if self._blanks:
            bare = "".join(self._blanks) + bare
            self._blanks.clear()
        if size != len(text):
            self._blanks.append(text[size:])
        if self._mender is not None:
            bare = self._mend(self._mender, bare)
        parts.append(bare)
        if self._scanner is not None:
            self._scanner.feed(bare)
        return "" if self._wrapped else bare

    def marker(self, text: str) -> str:
        """The same for a marker that does not end the arguments: ordinary text, but cut behind a mended value."""
        if self._mender is None or self._mender.in_string or not self._parts:
            return self.feed(text)
        if not self._tail:
            self._tail += self._blanks
        self._tail.append(text)
        return ""

    def verdict(self) -> Shape:
        """What the text is so far. Nothing at all counts as whole: it becomes `{}`."""
        if not self._parts:
            return WHOLE
        if self._scanner is None:
            text = "".join(self._parts)
            self._parts = [text]
            if text[-1] in _MAY_END and accepts(text):  # the usual case, and quicker than our own scanner
                return BROKEN if self._noise else WHOLE
            self._scanner = JsonScanner()
            self._scanner.feed(text)
        shape = self._scanner.shape
        if self._tail and (self._noise or shape is not WHOLE):
            return BROKEN
        return shape

    def doubt(self) -> None:
        """From here on it is not sure that the text belongs to the arguments."""
        self._mark = len(self._parts)

    def retract(self) -> None:
        """It did not: forget what was said since `doubt`."""
        del self._parts[self._mark :]
        self._blanks.clear()
        self._tail.clear()
        self._noise = False

    def close(self) -> str:
        """What is left to leave. Arguments that never came are `{}`."""
        if not self._parts:
            return "{}"
        rest = _unwrapped("".join(self._parts)) if self._wrapped else ""
        return rest + "".join(self._tail).rstrip() if self._noise else rest

    def _mend(self, mender: Mender, text: str) -> str:
        if not self._parts:
            self._wrapped = text[0] == '"'
            if text[0] not in '{["':  # no JSON that could have strings in it
                self._mender = None
                return text
        return mender.feed(text)


def settled(text: str, mend: bool) -> tuple[str, bool]:
    """Arguments that came in one piece, as they leave if they end here; and whether they are JSON at first sight."""
    text = text.strip()
    if not text or text == "{}":
        return "{}", True
    if not mend:
        return text, accepts(text)
    if text[0] in '{["' and has_control(text) is not None:
        text = Mender().feed(text)
    whole = accepts(text)
    return (_unwrapped(text) if text[0] == text[-1] == '"' else text), whole


def _unwrapped(text: str) -> str:
    """The JSON object inside a JSON string; any other text as it is. `text` begins with a quote."""
    try:
        value: str = payload.loads(text)
    except ValueError:
        return text
    for inner in (value, Mender().feed(value)):
        if payload.object_of(inner) is not None:
            return inner
    return text


def repaired(text: str, markers: Lexer[Marker]) -> str:
    """The arguments of a call that came as a whole, repaired (section 5.6); the same text if there is nothing to do."""
    arguments = Arguments(mend=True)
    said: list[str] = []
    pos = 0
    while (match := markers.find(text, pos, final=True)) is not None:
        said += (arguments.feed(text[pos : match.start()]), arguments.marker(match.group()))
        pos = match.end()
    said += (arguments.feed(text[pos:]), arguments.close())
    mended = "".join(said)
    return text if mended == text.strip() or not text.strip() else mended
