"""JSON objects as models write them when they write them wrong, read where only one meaning is possible.

Tolerated: comments, code fences, single quotes, names without quotes, trailing commas, raw control characters in
strings, Python's `True`, `False` and `None`, an object inside a JSON string, closing brackets that are missing at the
end. Never guessed: a string or a number that the end of the text may have cut, because a tool would act on half of it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from moongate.payload import JsonObject, loads, object_of

MAX_DEPTH: Final = 64  # arguments of real tools are not nested deeper

_BLANK: Final = re.compile(r"(?:\s|//[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_FENCE: Final = "```"
_STRING: Final = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL),
    "'": re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL),
}
_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])", re.ASCII)
_WORDS: Final = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPE: Final = re.compile(r"\\(.)|([\x00-\x1f\"])", re.DOTALL)


class _Ambiguous(Exception):
    """There is no one meaning."""


def tolerant_object(text: str) -> JsonObject | None:
    """The object that the text means; None if that is not certain.

    >>> tolerant_object("{path: 'a.py', lines: [1, 2,], all: True")
    {'path': 'a.py', 'lines': [1, 2], 'all': True}
    """
    reader = _JsonReader(_unfenced(text))
    try:
        value = reader.value(0)
        reader.skip()
    except _Ambiguous:
        return None
    if reader.rest:
        return None
    if isinstance(value, str):
        return object_of(value.encode("utf-8", "surrogatepass"))
    return value if isinstance(value, dict) else None


def _unfenced(text: str) -> str:
    """The text inside a fenced block of code; behind the opening fence its line may name a language."""
    block = text.strip()
    if not block.startswith(_FENCE):
        return text
    return block.partition("\n")[2].removesuffix(_FENCE)


class _JsonReader:
    """A text and how far it is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def rest(self) -> bool:
        return self._at < len(self._text)

    def skip(self) -> str:
        """The next character behind blanks and comments, "" at the end."""
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._text[self._at : self._at + 1]

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _Ambiguous
        first = self.skip()
        if first == "{":
            return dict(self._members(depth))
        if first == "[":
            return self._items(depth)
        if first in _STRING and first:
            return self._string(first)
        return self._word() if first.isalpha() else self._number()

    def _members(self, depth: int) -> list[tuple[str, Any]]:
        members: list[tuple[str, Any]] = []
        while self._goes_on("}", first=not members):
            quote = self.skip()
            name = self._string(quote) if quote in _STRING else self._take(_NAME)
            if self.skip() != ":":
                raise _Ambiguous
            self._at += 1
            members.append((name, self.value(depth + 1)))
        return members

    def _items(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._goes_on("]", first=not items):
            items.append(self.value(depth + 1))
        return items

    def _goes_on(self, closing: str, *, first: bool) -> bool:
        """Does another member follow? Reads what stands between members, and the closing bracket."""
        if first:
            self._at += 1  # the opening bracket
        elif self.skip() == ",":
            self._at += 1
        elif self.skip() not in (closing, ""):
            raise _Ambiguous
        following = self.skip()
        if following == closing:
            self._at += 1
            return False
        return following != ""

    def _string(self, quote: str) -> str:
        inside = self._take(_STRING[quote])[1:-1]
        # As JSON writes it: its own quotes, no escaped single quote, no raw control characters.
        text: str = _loaded(f'"{_ESCAPE.sub(_as_json, inside)}"')
        return text

    def _number(self) -> Any:
        number = self._take(_NUMBER)
        if not self.rest:
            raise _Ambiguous  # digits may be missing
        return _loaded(number)

    def _word(self) -> Any:
        word = self._take(_NAME)
        if word not in _WORDS:
            raise _Ambiguous
        return _WORDS[word]

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise _Ambiguous
        self._at = found.end()
        return found[0]


def _as_json(found: re.Match[str]) -> str:
    escaped, raw = found[1], found[2]
    if raw is not None:
        return f"\\u{ord(raw):04x}"
    return "'" if escaped == "'" else "\\n" if escaped == "\n" else found[0]


def _loaded(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        raise _Ambiguous from None
