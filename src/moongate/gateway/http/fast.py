"""Reads a body whose tools were seen before without reading them again.

The text of the tools is found in the body, a number is put in its place, and what is left is parsed: if the number is
the value of the top-level `tools` then, the known tools are what stands there. Any doubt leads to `read_object`.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Final

from moongate.chat.fast import KnownTools
from moongate.gateway.http.json_body import deeper_than, read_object, utf8
from moongate.payload import MAX_VALUES, JsonObject, dumps, end_of_first, loads

MIN_BYTES: Final = 4 * 1024  # of tools: smaller ones are read as fast
MAX_BYTES: Final = 2 * 1024 * 1024  # of the texts of all known tools; as objects they take about ten times as much
MAX_KNOWN: Final = 32
MAX_SEEN: Final = 256  # tools that came once

_KEY: Final = b'"tools":'
_BLANKS: Final = (b" ", b"\n", b"\r", b"\t")
_MARK: Final = 18446744073709551557  # an integer has one form in JSON, so that its digits show where it stands
_DIGITS: Final = b"%d" % _MARK


class KnownToolsReader:
    """`read_object` that remembers tools which come again. For one depth of nesting."""

    __slots__ = ("_depth", "_known", "_seen")

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._known: list[KnownTools] = []  # the last used first; replaced, never changed: threads read it
        self._seen: dict[int, None] = {}  # hashes of tools that came once

    def read_object(self, body: bytes, values: int = MAX_VALUES) -> JsonObject:
        """The same as `json_body.read_object`, errors included; known tools are shared with other requests."""
        if len(body) > values:
            return read_object(body, self._depth, values)
        start = _start_of_tools(body)
        known = self._find(body, start)
        found = None if known is None else self._read_rest(body, start, known)
        if found is None:
            found = read_object(body, self._depth, values)
            if start and known is None:
                self._learn(body, start, found)
        return found

    def _find(self, body: bytes, start: int) -> KnownTools | None:
        """The tools whose text is in the body at `start`: it is an array, so that it ends where its text ends."""
        if not start:
            return None
        known = self._known
        for at, tools in enumerate(known):
            if body.startswith(tools.text, start):
                if at:
                    self._known = [tools, *known[:at], *known[at + 1 :]]
                return tools
        return None

    def _read_rest(self, body: bytes, start: int, tools: KnownTools) -> JsonObject | None:
        """The object with the tools in it, None if they are not its top-level tools or something is wrong with it."""
        view = memoryview(body)
        rest = b"".join((view[:start], _DIGITS, view[start + len(tools.text) :]))
        if rest.find(_DIGITS) != start or rest.find(_DIGITS, start + 1) >= 0:
            return None
        with suppress(ValueError):
            found: object = loads(utf8(rest))
            if isinstance(found, dict) and found.get("tools") == _MARK and not deeper_than(found, self._depth):
                found["tools"] = tools
                return found
        return None

    def _learn(self, body: bytes, start: int, found: JsonObject) -> None:
        """Keep tools that come for the second time."""
        tools = found.get("tools")
        if not isinstance(tools, list):
            return
        written = dumps(tools)
        if not MIN_BYTES <= len(written) <= MAX_BYTES:
            return
        seen = hash(written)
        if seen not in self._seen:
            if len(self._seen) >= MAX_SEEN:
                self._seen = {}
            self._seen[seen] = None
            return
        text = _array_at(body, start)
        if dumps(loads(text)) != written:  # they are not the top-level ones
            return
        found["tools"] = new = KnownTools(text, tools)
        kept, size = [new], len(text)
        for each in self._known[: MAX_KNOWN - 1]:
            size += len(each.text)
            if size <= MAX_BYTES:
                kept.append(each)
        self._known = kept


@cache
def known_tools_reader(depth: int) -> KnownToolsReader:
    """The one of this process. A reload of the configuration seldom changes the depth."""
    return KnownToolsReader(depth)


def read_known_object(body: bytes, depth: int, values: int = MAX_VALUES) -> JsonObject:
    """`json_body.read_object` with the reader of this process."""
    if len(body) < MIN_BYTES:
        return read_object(body, depth, values)
    return known_tools_reader(depth).read_object(body, values)


def _start_of_tools(body: bytes) -> int:
    """Where the array of the last key `tools` begins, 0 if there is none. In valid JSON a quote without a backslash
    before it begins or ends a string, and behind the end of one no letter can follow: so this one begins the key."""
    at = body.rfind(_KEY)
    if at <= 0 or body[at - 1] == 0x5C:
        return 0
    at += len(_KEY)
    while body[at : at + 1] in _BLANKS:
        at += 1
    return at if body[at : at + 1] == b"[" else 0


def _array_at(body: bytes, start: int) -> bytes:
    """The text of the array that begins there, in a body that is JSON."""
    text = body[start:].decode()
    return text[: end_of_first(text)].encode()
