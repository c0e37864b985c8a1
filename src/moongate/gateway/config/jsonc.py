"""JSON with comments and trailing commas, parsed with the line of every value.

A parser of its own, because errors must name the line: `ConfigDocument.line` knows the line of every path, and a key
that is given twice is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from moongate.errors import ConfigError
from moongate.gateway.config.excerpt import excerpt
from moongate.payload import JsonObject, loads

MAX_DEPTH: Final = 64  # a configuration nests about eight levels deep

_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_SCALAR: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null')
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def join_path(path: str, key: str | int) -> str:
    """`providers[0].name`; keys that are not identifiers are quoted: `aliases["claude-*"]`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f'{path}["{key}"]'


@dataclass(frozen=True, slots=True)
class ConfigDocument:
    """A parsed file: its value, and the line of each path in it."""

    file: str
    value: Any
    lines: dict[str, int] = field(repr=False)

    def line(self, path: str) -> int:
        """The line of `path`, or of the innermost value around it that is in the file."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path, 1)

    def error(self, path: str, message: str) -> ConfigError:
        """An error at `path`, with file and line."""
        place = f"{self.file}:{self.line(path)}"
        return ConfigError(message, path=f"{place}: {path}" if path else place)


def parse(text: str, file: str) -> ConfigDocument:
    """Raises ConfigError with file, line, column and the line itself for anything that is not JSON with comments."""
    return _JsoncParser(text.removeprefix("\ufeff"), file).document()


def _open(closer: str, line: int) -> str:
    return f"the {'{' if closer == '}' else '['!r} of line {line} is not closed"


class _JsoncParser:
    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._position = 0
        self._last_end = 0  # where the last token ends
        self._counted_to = 0  # newlines before this position are counted
        self._line = 1
        self._lines: dict[str, int] = {}

    def document(self) -> ConfigDocument:
        self._skip()
        value = self._value("", 0)
        self._skip()
        if isinstance(value, dict) and self._text[self._position : self._position + 1] == "{":
            return _JsoncParser(self._text, self._file)._sequence()
        if self._position < len(self._text):
            self._fail("something follows the end of the configuration")
        return ConfigDocument(self._file, value, self._lines)

    def _sequence(self) -> ConfigDocument:
        """Objects one after the other, as documentation often shows them, are read as a list."""
        found: list[object] = []
        self._lines[""] = 1
        self._skip()
        while self._position < len(self._text):
            found.append(self._value(join_path("", len(found)), 1))
            self._skip()
        return ConfigDocument(self._file, found, self._lines)

    def _value(self, path: str, depth: int) -> object:
        if depth > MAX_DEPTH:
            self._fail(f"nested deeper than {MAX_DEPTH} levels")
        self._lines.setdefault(path, self._line_here())
        head = self._text[self._position : self._position + 1]
        if head == "{":
            return self._object(path, depth)
        if head == "[":
            return self._array(path, depth)
        return self._scalar()

    def _object(self, path: str, depth: int) -> JsonObject:
        found: JsonObject = {}
        opened = self._line_here()
        self._position += 1
        while not self._ends("}", opened):
            if self._text[self._position] != '"':
                self._fail("expected a key in double quotes")
            line = self._line_here()
            key = self._scalar()
            if key in found:
                self._fail(f"{key!r} is given twice")
            self._skip()
            self._expect(":")
            self._skip()
            inner = join_path(path, key)
            self._lines[inner] = line
            found[key] = self._value(inner, depth + 1)
            self._comma("}", opened)
        return found

    def _array(self, path: str, depth: int) -> list[object]:
        found: list[object] = []
        opened = self._line_here()
        self._position += 1
        while not self._ends("]", opened):
            found.append(self._value(join_path(path, len(found)), depth + 1))
            self._comma("]", opened)
        return found

    def _scalar(self) -> Any:
        match = _SCALAR.match(self._text, self._position)
        quoted = self._text.startswith('"', self._position)
        if match is None:
            self._fail("a text without its closing '\"'" if quoted else "expected a value")
        try:
            value = loads(match[0])
        except ValueError:  # the text is not shown: it may be a secret
            self._fail("a text with a wrong \\ in it" if quoted else "not a number as JSON writes it")
        self._position = match.end()
        return value

    def _ends(self, closer: str, opened: int) -> bool:
        """Consume the closing bracket, if it is next."""
        self._skip()
        if self._position >= len(self._text):
            self._fail(f"the text ends, but {_open(closer, opened)}")
        if self._text[self._position] != closer:
            return False
        self._position += 1
        return True

    def _comma(self, closer: str, opened: int) -> None:
        """Consume a comma; it may only be missing before the closing bracket."""
        self._skip()
        head = self._text[self._position : self._position + 1]
        if head == ",":
            self._position += 1
        elif head in ("}", "]") and head != closer:
            self._fail(f"expected {closer!r}: {_open(closer, opened)}")
        elif head and head != closer:
            self._position = self._last_end  # where it is missing: perhaps some lines above the next token
            self._fail(f"expected ',' or {closer!r} here")

    def _expect(self, mark: str) -> None:
        if self._text[self._position : self._position + 1] != mark:
            self._fail(f"expected {mark!r}")
        self._position += 1

    def _skip(self) -> None:
        self._last_end = self._position
        match = _BLANK.match(self._text, self._position)
        if match is not None:
            self._position = match.end()

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted_to, self._position)
        self._counted_to = self._position
        return self._line

    def _fail(self, message: str) -> NoReturn:
        start = self._text.rfind("\n", 0, self._position) + 1
        line, column = self._text.count("\n", 0, start) + 1, self._position - start + 1
        shown = excerpt(self._text[start:].partition("\n")[0], line, column)
        raise ConfigError(message + shown, path=f"{self._file}:{line}:{column}")
