"""JSON with comments and trailing commas, read with the line of every value.

A parser of its own, because an error that says only "somewhere in this file" is no help: `Document.line` knows
the line of every path, and a key given twice is an error instead of a silent loss.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from moongate.errors import ConfigError
from moongate.gateway.config.excerpt import excerpt
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
    """Raises ConfigError with file, line, column and the line itself for anything that is not JSON with comments."""
    return _Reader(text.removeprefix("\ufeff"), file).document()


def _open(closer: str, line: int) -> str:
    return f"the {'{' if closer == '}' else '['!r} of line {line} is not closed"


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._at = 0
        self._behind = 0  # the last mark or value ends here
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
        opened = self._line_here()
        self._at += 1
        while not self._ends("}", opened):
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
            self._comma("}", opened)
        return found

    def _array(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        opened = self._line_here()
        self._at += 1
        while not self._ends("]", opened):
            found.append(self._value(join_path(path, len(found)), depth + 1))
            self._comma("]", opened)
        return found

    def _scalar(self) -> Any:
        match = _SCALAR.match(self._text, self._at)
        quoted = self._text.startswith('"', self._at)
        if match is None:
            self._fail("a text without its closing '\"'" if quoted else "expected a value")
        try:
            value = loads(match[0])
        except ValueError:  # what stands there is not told: it may be a key
            self._fail("a text with a wrong \\ in it" if quoted else "not a number as JSON writes it")
        self._at = match.end()
        return value

    def _ends(self, closer: str, opened: int) -> bool:
        """Steps over the closer if it is next."""
        self._skip()
        if self._at >= len(self._text):
            self._fail(f"the text ends, but {_open(closer, opened)}")
        if self._text[self._at] != closer:
            return False
        self._at += 1
        return True

    def _comma(self, closer: str, opened: int) -> None:
        """Steps over a comma; only the closer, and more of the text, may do without."""
        self._skip()
        head = self._text[self._at : self._at + 1]
        if head == ",":
            self._at += 1
        elif head in ("}", "]") and head != closer:
            self._fail(f"expected {closer!r}: {_open(closer, opened)}")
        elif head and head != closer:
            self._at = self._behind  # there it is missing, maybe lines above what comes next
            self._fail(f"expected ',' or {closer!r} here")

    def _take(self, mark: str) -> None:
        if self._text[self._at : self._at + 1] != mark:
            self._fail(f"expected {mark!r}")
        self._at += 1

    def _skip(self) -> None:
        self._behind = self._at
        match = _GAP.match(self._text, self._at)
        if match is not None:
            self._at = match.end()

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _fail(self, message: str) -> NoReturn:
        start = self._text.rfind("\n", 0, self._at) + 1
        line, column = self._text.count("\n", 0, start) + 1, self._at - start + 1
        shown = excerpt(self._text[start:].partition("\n")[0], line, column)
        raise ConfigError(message + shown, path=f"{self._file}:{line}:{column}")
