"""Names that are nearly right: the same letters and digits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_PREFIX: Final = "functions."
_NAME_JOINTS: Final = str.maketrans("", "", "_-.")
_PROPERTY_JOINTS: Final = str.maketrans("", "", "_-")


def near_tool(name: str, offered: Iterable[str]) -> str | None:
    """The one offered tool whose name differs only in case, `_`, `-`, `.` or a prefix; None if none or several do.

    >>> near_tool("functions.Read-File", ["read_file", "write_file"])
    'read_file'
    """
    key = _tool_key(name)
    return _only(other for other in offered if _tool_key(other) == key)


def property_key(name: str) -> str:
    """What is left of a property's name without case, `_` and `-`."""
    return name.translate(_PROPERTY_JOINTS).casefold()


def by_property_key(names: Iterable[str]) -> dict[str, list[str]]:
    """Names that differ only in case, `_` or `-`, together."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(property_key(name), []).append(name)
    return found


def near_option(text: str, options: Iterable[object]) -> str | None:
    """The one text among the options of an `enum` that differs only in case or blanks."""
    key = "".join(text.split()).casefold()
    return _only(each for each in options if isinstance(each, str) and "".join(each.split()).casefold() == key)


def _tool_key(name: str) -> str:
    return name.casefold().removeprefix(_PREFIX).translate(_NAME_JOINTS)


def _only(found: Iterable[str]) -> str | None:
    names = set(found)
    return names.pop() if len(names) == 1 else None
