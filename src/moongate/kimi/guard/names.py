"""Names that are nearly right: the same letters and digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

_PREFIX: Final = "functions."
_NAME_JOINTS: Final = str.maketrans("", "", "_-.")
_PROPERTY_JOINTS: Final = str.maketrans("", "", "_-")


def near_tool(name: str, offered: Mapping[str, list[str]]) -> str | None:
    """The one offered tool whose name differs only in case, `_`, `-`, `.` or a prefix; None if none or several do.

    >>> near_tool("functions.Read-File", by_tool_key(["read_file", "write_file"]))
    'read_file'
    """
    return _only(offered.get(_tool_key(name), ()))


def by_tool_key(names: Iterable[str]) -> dict[str, list[str]]:
    """Names of tools that differ only in case, `_`, `-`, `.` or a prefix, together."""
    return _by(_tool_key, names)


def property_key(name: str) -> str:
    """What is left of a property's name without case, `_` and `-`."""
    return name.translate(_PROPERTY_JOINTS).casefold()


def by_property_key(names: Iterable[str]) -> dict[str, list[str]]:
    """Names that differ only in case, `_` or `-`, together."""
    return _by(property_key, names)


def near_option(text: str, options: Iterable[object]) -> str | None:
    """The one text among the options of an `enum` that differs only in case or blanks."""
    key = "".join(text.split()).casefold()
    return _only(each for each in options if isinstance(each, str) and "".join(each.split()).casefold() == key)


def _tool_key(name: str) -> str:
    return name.casefold().removeprefix(_PREFIX).translate(_NAME_JOINTS)


def _by(key: Callable[[str], str], names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(key(name), []).append(name)
    return found


def _only(found: Iterable[str]) -> str | None:
    names = set(found)
    return names.pop() if len(names) == 1 else None
