"""Which tool a K2 call header names (section 5.4)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from moongate.kimi.tool_set import ToolSet

MAX_HEADER_CHARS: Final = 512  # a longer text is prose, not a header

_STANDARD: Final = re.compile(r"functions\.([^:\s]+):[0-9]+").fullmatch
_UNDERSCORES: Final = re.compile(r"functions_(.+)_[0-9]+", re.DOTALL).fullmatch
_NO_SEPARATORS: Final = re.compile(r"functions(.*[^0-9])([0-9]+)", re.DOTALL).fullmatch


class Header(NamedTuple):
    """`original_id` is the header's text. Without a name it is no header, unless `by_keys`: then the argument keys
    may identify the tool."""

    original_id: str
    name: str = ""
    by_keys: bool = False


def read_header(text: str, tool_set: ToolSet) -> Header:
    standard = _STANDARD(text)
    if standard is not None and tool_set.has(standard[1]):  # a shortcut: the steps below give the same result
        return Header(text, standard[1])
    original_id = text.strip()
    rest = original_id.removeprefix("functions.")
    if len(rest) == len(original_id):
        rest = original_id.removeprefix(f"{tool_set.id_prefix}.")
    name, colon, index = rest.rpartition(":")
    indexed = index.isdigit() and index.isascii() and colon != ""
    if not indexed:
        name = rest
    if tool_set.has(name):
        return Header(original_id, name)
    if name.startswith("functions") and (sanitised := _sanitised_name(name, tool_set)):
        return Header(original_id, sanitised)
    if indexed:
        return Header(original_id, name)
    return Header(original_id, by_keys=name.startswith("call_") or (name.isascii() and name.isdigit()))


class HeaderCache:
    """`read_header` for many headers: those that differ in nothing but their index are read once."""

    __slots__ = ("_names", "_others", "_tool_set")

    def __init__(self, tool_set: ToolSet) -> None:
        self._tool_set = tool_set
        self._names: dict[str, str] = {}  # by the text before the index
        self._others: dict[str, Header] = {}  # headers without an index

    def read(self, text: str) -> tuple[str, str, bool]:
        """The fields of `read_header(text)`."""
        head, colon, index = text.rpartition(":")
        if not (colon and index.isdigit() and index.isascii()):
            other = self._others.get(text)
            if other is None:
                other = self._others[text] = read_header(text, self._tool_set)
            return other
        name = self._names.get(head)
        if name is None:
            header = read_header(text, self._tool_set)
            if header.original_id != text:  # it has leading whitespace
                return header
            name = self._names[head] = header.name
        return text, name, False


def _sanitised_name(name: str, tool_set: ToolSet) -> str:
    """The offered tool in an id whose separators were replaced or removed: `functions_NAME_N`, `functionsNAMEN`."""
    found = _UNDERSCORES(name)
    if found is not None and tool_set.has(found[1]):
        return found[1]
    found = _NO_SEPARATORS(name)
    if found is not None:
        stem, digits = found[1], found[2]
        # The tool's name may itself end in digits: the longest offered one wins.
        for end in range(len(digits) - 1, -1, -1):
            if tool_set.has(stem + digits[:end]):
                return stem + digits[:end]
    return ""
