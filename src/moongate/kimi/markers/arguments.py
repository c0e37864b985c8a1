"""The arguments of one call as they stream: whether they are JSON yet, and their repair (sections 5.3 and 5.6)."""

from __future__ import annotations

import re
from typing import Final

from moongate import payload
from moongate.kimi.markers.json_scan import BROKEN, COMPLETE, SLICE, Completeness, JsonScanner, accepts
from moongate.kimi.markers.k2_markers import Marker
from moongate.kimi.markers.lexer import Lexer
from moongate.wire.threads import let_threads_run

find_control: Final = re.compile(r"[\x00-\x1f]").search
_SPLIT_SUB: Final = re.compile(r'[^"\\]+|\\.?|"', re.DOTALL).sub
_LAST_CHARS: Final = frozenset('}]"0123456789el')  # what JSON can end with
_ESCAPES: Final = {chr(code): payload.dumps_text(chr(code))[1:-1] for code in range(0x20)}


class ArgumentsRepair:
    """Escapes raw control characters inside JSON strings, piece by piece."""

    __slots__ = ("_after_backslash", "in_string")

    def __init__(self) -> None:
        self.in_string = False
        self._after_backslash = False

    def feed(self, text: str) -> str:
        if len(text) <= SLICE:
            return self._feed(text)
        parts: list[str] = []
        for at in range(0, len(text), SLICE):
            let_threads_run()
            parts.append(self._feed(text[at : at + SLICE]))
        return "".join(parts)

    def _feed(self, text: str) -> str:
        first = ""
        if self._after_backslash:  # the escaped character, whatever it is, stays
            first, text = text[:1], text[1:]
            self._after_backslash = False
        if find_control(text) is None and "\\" not in text:
            self.in_string ^= text.count('"') % 2 == 1
        elif self.in_string and '"' not in text and "\\" not in text:
            text = _escape(text)
        else:
            text = _SPLIT_SUB(self._repair_part, text)
        return first + text

    def _repair_part(self, match: re.Match[str]) -> str:
        text = match[0]
        if text == '"':
            self.in_string = not self.in_string
        elif text == "\\":
            self._after_backslash = True  # it is the last character
        elif self.in_string and text[0] != "\\" and find_control(text) is not None:
            return _escape(text)
        return text


def _escape(text: str) -> str:
    """The text with its control characters escaped. A few `replace` calls, because `translate` is slow."""
    for char, escape in _ESCAPES.items():
        if char in text:
            text = text.replace(char, escape)
    return text


class Arguments:
    """Whitespace around the arguments is dropped. With `repair` they are repaired on the way."""

    __slots__ = ("_parts", "_repair", "_savepoint", "_scanner", "_tail", "_tail_has_text", "_whitespace", "_wrapped")

    def __init__(self, repair: bool) -> None:
        self._parts: list[str] = []  # the text so far, without the whitespace around it
        self._whitespace: list[str] = []  # comes out only if text follows it
        self._scanner: JsonScanner | None = None
        self._savepoint = 0  # number of parts at the savepoint
        self._repair = ArgumentsRepair() if repair else None
        self._wrapped = False  # a JSON string, which may contain the object: held back until its end
        self._tail: list[str] = []  # markers behind the value and what follows them: dropped if only markers follow
        self._tail_has_text = False

    def feed(self, text: str) -> str:
        """The part that may come out now."""
        if self._tail:
            self._tail.append(text)
            self._tail_has_text = self._tail_has_text or bool(text.strip())
            return ""
        parts = self._parts
        if not parts:
            text = text.lstrip()
        stripped = text.rstrip()
        if not stripped:
            if parts:
                self._whitespace.append(text)
            return ""
        size = len(stripped)
        if self._whitespace:
            stripped = "".join(self._whitespace) + stripped
            self._whitespace.clear()
        if size != len(text):
            self._whitespace.append(text[size:])
        if self._repair is not None:
            stripped = self._repaired(self._repair, stripped)
        parts.append(stripped)
        if self._scanner is not None:
            self._scanner.feed(stripped)
        return "" if self._wrapped else stripped

    def feed_marker(self, text: str) -> str:
        """`feed` for a marker that does not end the arguments: text, but dropped behind a repaired value."""
        if self._repair is None or self._repair.in_string or not self._parts:
            return self.feed(text)
        if not self._tail:
            self._tail += self._whitespace
        self._tail.append(text)
        return ""

    @property
    def empty(self) -> bool:
        """Whether nothing but whitespace came."""
        return not self._parts

    def completeness(self) -> Completeness:
        """Whether the text so far is JSON. Empty text counts as complete: it becomes `{}`."""
        if not self._parts:
            return COMPLETE
        if self._scanner is None:
            text = "".join(self._parts)
            self._parts = [text]
            if text[-1] in _LAST_CHARS and accepts(text):  # the usual case, and faster than our own scanner
                return BROKEN if self._tail_has_text else COMPLETE
            self._scanner = JsonScanner()
            self._scanner.feed(text)
        completeness = self._scanner.completeness
        if self._tail and (self._tail_has_text or completeness is not COMPLETE):
            return BROKEN
        return completeness

    def savepoint(self) -> None:
        """From here on the text may turn out not to belong to the arguments: see `rollback`."""
        self._savepoint = len(self._parts)

    def rollback(self) -> None:
        """Forget what was fed since the savepoint."""
        del self._parts[self._savepoint :]
        self._whitespace.clear()
        self._tail.clear()
        self._tail_has_text = False

    def close(self) -> str:
        """The rest. Empty arguments become `{}`."""
        if not self._parts:
            return "{}"
        rest = _unwrapped("".join(self._parts)) if self._wrapped else ""
        return rest + "".join(self._tail).rstrip() if self._tail_has_text else rest

    def _repaired(self, repair: ArgumentsRepair, text: str) -> str:
        if not self._parts:
            self._wrapped = text[0] == '"'
            if text[0] not in '{["':  # no JSON value that can contain strings
                self._repair = None
                return text
        return repair.feed(text)


def finished_arguments(text: str, repair: bool) -> tuple[str, bool]:
    """Arguments that came in one piece as `Arguments` would emit them, and whether they are valid JSON."""
    text = text.strip()
    if not text or text == "{}":
        return "{}", True
    if not repair:
        return text, accepts(text)
    if text[0] in '{["' and find_control(text) is not None:
        text = ArgumentsRepair().feed(text)
    valid = accepts(text)
    return (_unwrapped(text) if text[0] == text[-1] == '"' else text), valid


def _unwrapped(text: str) -> str:
    """The JSON object inside a JSON string; any other text as it is. `text` begins with a quote."""
    try:
        value: str = payload.loads(text)
    except ValueError:
        return text
    for inner in (value, ArgumentsRepair().feed(value)):
        if payload.object_of(inner) is not None:
            return inner
    return text


def repair_arguments(text: str, markers: Lexer[Marker]) -> str:
    """The arguments of a whole native call, repaired (section 5.6); the same text if nothing is wrong with it."""
    arguments = Arguments(repair=True)
    parts: list[str] = []
    pos = 0
    while (match := markers.find(text, pos, final=True)) is not None:
        parts += (arguments.feed(text[pos : match.start()]), arguments.feed_marker(match.group()))
        pos = match.end()
    parts += (arguments.feed(text[pos:]), arguments.close())
    repaired = "".join(parts)
    return text if repaired == text.strip() or not text.strip() else repaired
