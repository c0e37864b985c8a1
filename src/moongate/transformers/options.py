"""Options of generic transformers: declared once as dataclass fields, read from a configuration.

Other servers write these options in snake_case, moongate's own are in camelCase: both spellings are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, fields, is_dataclass
from difflib import get_close_matches
from typing import Any, Final, Self, TypeVar

from moongate.errors import ConfigError

T = TypeVar("T")
Accepts = Callable[[object], bool]

_LARGEST: Final = 1e9  # of a number; NaN is not below it
_TAG: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def is_flag(value: object) -> bool:
    """true or false"""
    return isinstance(value, bool)


def is_count(value: object) -> bool:
    """a whole number above 0"""
    return type(value) is int and value > 0


def is_number(value: object) -> bool:
    """a number"""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def is_text(value: object) -> bool:
    """a text"""
    return isinstance(value, str)


def is_tag(value: object) -> bool:
    """a tag's name: a letter, then at most 63 of [A-Za-z0-9_-]"""
    return isinstance(value, str) and _TAG.fullmatch(value) is not None


def option(default: T, accepts: Accepts, meaning: str) -> T:
    """A field with what it accepts and its meaning. `accepts` says in its docstring what it wants."""
    declared: T = field(default=default, metadata={"accepts": accepts, "meaning": meaning})
    return declared


class Configured:
    """A transformer whose options are its dataclass fields."""

    @classmethod
    def from_config(cls, options: Mapping[str, Any] | None = None, path: str = "options") -> Self:
        """The transformer with these options. Raises ConfigError with the path of an unknown or wrong one."""
        return cls(**_read(cls, options or {}, path))


def _read(owner: type[object], options: Mapping[str, Any], path: str) -> dict[str, object]:
    assert is_dataclass(owner)
    declared = {each.name: each for each in fields(owner)}
    known: dict[str, object] = {}
    for key, value in options.items():
        place = f"{path}.{key}" if path else key
        name = _field_name(key)
        if name not in declared:
            raise ConfigError(_unknown(key, list(declared)), path=place)
        accepts = declared[name].metadata["accepts"]
        if not accepts(value):
            raise ConfigError(f"must be {accepts.__doc__}, not {value!r}", path=place)
        known[name] = value
    return known


def _unknown(key: str, names: list[str]) -> str:
    if not names:
        return f"unknown option {key!r}: this transformer has none"
    near = get_close_matches(_field_name(key), names, n=1, cutoff=0.0)[0]
    return f"unknown option {key!r}, did you mean {near!r}?"


def _field_name(key: str) -> str:
    """topP → top_p"""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", key).lower()
