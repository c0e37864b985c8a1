"""JSON with comments and trailing commas, read with the line of every value.

A parser of its own, because an error that says only "somewhere in this file" is no help: `Document.line` knows
the line of every path, and a key given twice is an error instead of a silent loss.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from moongate.errors import ConfigError
from moongate.payload import loads

MAX_DEPTH: Final = 64  # a configuration nests about eight levels deep

_GAP: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_SCALAR: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null')
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def join_path(path: str, key: str | int) -> str:
    """`providers[0].name`; keys that are no plain words are quoted: `aliases["claude-*"]`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f'{path}["{key}"]'


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its value, and the line of each path in it."""

    file: str
    value: Any
    lines: dict[str, int] = field(repr=False)

    def line(self, path: str) -> int:
        """The line of `path`, or of the nearest thing around it that stands in the file."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path, 1)

    def error(self, path: str, message: str) -> ConfigError:
        """What is wrong at `path`, with file and line."""
        place = f"{self.file}:{self.line(path)}"
        return ConfigError(message, path=f"{place}: {path}" if path else place)


def parse(text: str, file: str) -> Document:
    """Raises ConfigError with file, line and column for anything that is not JSON with comments."""
    return _Reader(text.removeprefix("\ufeff"), file).document()


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._at = 0
        self._counted = 0  # newlines are counted up to here
        self._line = 1
        self._lines: dict[str, int] = {}

    def document(self) -> Document:
        self._skip()
        value = self._value("", 0)
        self._skip()
        if isinstance(value, dict) and self._text[self._at : self._at + 1] == "{":
            return _Reader(self._text, self._file)._sequence()
        if self._at < len(self._text):
            self._fail("something follows the end of the configuration")
        return Document(self._file, value, self._lines)

    def _sequence(self) -> Document:
        """Objects one after the other, as documentation prints them, are a list."""
        found: list[Any] = []
        self._lines[""] = 1
        self._skip()
        while self._at < len(self._text):
            found.append(self._value(join_path("", len(found)), 1))
            self._skip()
        return Document(self._file, found, self._lines)

    def _value(self, path: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self._fail(f"nested deeper than {MAX_DEPTH} levels")
        self._lines.setdefault(path, self._line_here())
        head = self._text[self._at : self._at + 1]
        if head == "{":
            return self._object(path, depth)
        if head == "[":
            return self._array(path, depth)
        return self._scalar()

    def _object(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._at += 1
        while not self._ends("}"):
            if self._text[self._at] != '"':
                self._fail("expected a key in double quotes")
            line = self._line_here()
            key = self._scalar()
            if key in found:
                self._fail(f"{key!r} is given twice")
            self._skip()
            self._take(":")
            self._skip()
            inner = join_path(path, key)
            self._lines[inner] = line
            found[key] = self._value(inner, depth + 1)
            self._comma("}")
        return found

    def _array(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        self._at += 1
        while not self._ends("]"):
            found.append(self._value(join_path(path, len(found)), depth + 1))
            self._comma("]")
        return found

    def _scalar(self) -> Any:
        match = _SCALAR.match(self._text, self._at)
        if match is None:
            self._fail("expected a value")
        try:
            value = loads(match[0])
        except ValueError:
            self._fail(f"{match[0]} is not JSON")
        self._at = match.end()
        return value

    def _ends(self, closer: str) -> bool:
        """Steps over the closer if it is next."""
        self._skip()
        if self._at >= len(self._text):
            self._fail(f"the file ends before {closer!r}")
        if self._text[self._at] != closer:
            return False
        self._at += 1
        return True

    def _comma(self, closer: str) -> None:
        self._skip()
        if self._text[self._at : self._at + 1] != closer:
            self._take(",")

    def _take(self, mark: str) -> None:
        if self._text[self._at : self._at + 1] != mark:
            self._fail(f"expected {mark!r}")
        self._at += 1

    def _skip(self) -> None:
        match = _GAP.match(self._text, self._at)
        if match is not None:
            self._at = match.end()

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _fail(self, message: str) -> NoReturn:
        line = self._line_here()
        column = self._at - self._text.rfind("\n", 0, self._at)
        raise ConfigError(message, path=f"{self._file}:{line}:{column}")
