"""The text of a call of the exit tool, read from its arguments while they stream: `{"response": "…"}`."""

from __future__ import annotations

import re
from typing import Final

from moongate.payload import loads, object_of

MEMBER: Final = "response"

_HEAD: Final = re.compile(r'\s*\{\s*"response"\s*:\s*"')
_MAX_HEAD: Final = 64  # characters; arguments that have not opened the text by then are read at their end
# Whole characters of a JSON string. Behind half a surrogate pair, or half an escape, more has to come.
_CHARACTERS: Final = re.compile(
    r'(?:[^"\\]|\\["\\/bfnrt]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u(?![dD][89abAB])[0-9a-fA-F]{4})+'
)


class ExitText:
    """One call's arguments. What cannot be read while it streams is read at its end; then nothing is lost.

    >>> text = ExitText()
    >>> [text.feed(piece) for piece in ('{"resp', 'onse": "Do', 'ne\\\\', 'n')], text.close()
    (['', 'Do', 'ne', '\\n'], '')
    """

    __slots__ = ("_all", "_begun", "_chars", "_unread")

    def __init__(self) -> None:
        self._all: list[str] = []  # until the text begins
        self._unread = ""
        self._begun = False
        self._chars = 0

    def feed(self, piece: str) -> str:
        """Text that is certain."""
        if not self._begun:
            self._all.append(piece)
            if self._chars > _MAX_HEAD:
                return ""
            self._chars += len(piece)
            arguments = "".join(self._all)
            head = _HEAD.match(arguments)
            if head is None:
                return ""
            self._begun = True
            piece = arguments[head.end() :]
        if self._unread.startswith('"'):
            return ""  # the text is over
        self._unread += piece
        found = _CHARACTERS.match(self._unread)
        if found is None:
            return ""
        self._unread = self._unread[found.end() :]
        return _decoded(found[0])

    def close(self) -> str:
        """The rest. Half an escape at the end of a cut text is dropped; arguments of another form are shown."""
        if self._begun:
            return ""
        arguments, self._begun = "".join(self._all), True
        value = object_of(arguments.encode("utf-8", "surrogatepass"))
        if value is None:
            return arguments
        text = value.get(MEMBER)
        return text if isinstance(text, str) else "" if not value else arguments


def _decoded(characters: str) -> str:
    """The text that these characters of a JSON string stand for. Raw control characters are tolerated."""
    escaped = re.sub(r"[\x00-\x1f]", lambda found: f"\\u{ord(found[0]):04x}", characters)
    text: str = loads(f'"{escaped}"')
    return text
