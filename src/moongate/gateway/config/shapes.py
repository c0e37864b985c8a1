"""What a setting may be: each shape checks a value, and describes itself in the JSON Schema and the documentation.

Shapes never access the environment or the disk; what needs them is done after reading.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from moongate.gateway.config.places import ConfigPlace, ErrorCollector, json_type, suggest
from moongate.payload import JsonObject


class SettingShape(Protocol):
    def read(self, value: object, at: ConfigPlace) -> object:
        """The checked value. Raises ConfigError."""
        ...

    def schema(self) -> JsonObject:
        """Its JSON Schema."""
        ...

    def describe(self) -> str:
        """In words, for error messages and the documentation."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class TextSetting:
    """A non-empty text."""

    pattern: str = ""
    description: str = "text"

    def read(self, value: object, at: ConfigPlace) -> str:
        if not isinstance(value, str):
            raise at.error(f"expected {self.description}, found {json_type(value)}")
        if not value.strip():
            raise at.error(f"expected {self.description}, found an empty text")
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise at.error(f"expected {self.description}, found {value!r}")
        return value

    def schema(self) -> JsonObject:
        return {"type": "string", "minLength": 1} | ({"pattern": f"^(?:{self.pattern})$"} if self.pattern else {})

    def describe(self) -> str:
        return self.description


@dataclass(frozen=True, eq=False, repr=False)
class Flag:
    """True or false."""

    def read(self, value: object, at: ConfigPlace) -> bool:
        if not isinstance(value, bool):
            raise at.error(f"expected true or false, found {json_type(value)}")
        return value

    def schema(self) -> JsonObject:
        return {"type": "boolean"}

    def describe(self) -> str:
        return "true / false"


@dataclass(frozen=True, eq=False, repr=False)
class Number:
    """A number from `minimum` to `maximum`; an integer, if so."""

    minimum: float
    maximum: float
    integer: bool = False
    unit: str = ""

    def read(self, value: object, at: ConfigPlace) -> float:
        if isinstance(value, bool) or not isinstance(value, int if self.integer else int | float):
            raise at.error(f"expected {self.describe()}, found {json_type(value)} ({value!r})")
        if isinstance(value, float) and not math.isfinite(value):
            raise at.error(f"expected {self.describe()}, found {json_type(value)} ({value!r})")
        if not self.minimum <= value <= self.maximum:
            raise at.error(f"expected {self.describe()}, found {value}")
        return value if self.integer else float(value)

    def schema(self) -> JsonObject:
        return {"type": "integer" if self.integer else "number", "minimum": self.minimum, "maximum": self.maximum}

    def describe(self) -> str:
        kind = "whole number" if self.integer else self.unit or "number"
        return f"{kind}, {self.minimum:.12g} … {self.maximum:.12g}"


@dataclass(frozen=True, eq=False, repr=False)
class OneOf:
    """One of a few texts."""

    options: tuple[str, ...]

    def read(self, value: object, at: ConfigPlace) -> str:
        if value not in self.options or not isinstance(value, str):
            raise at.error(f"unknown value {value!r}{suggest(str(value), self.options)}")
        return value

    def schema(self) -> JsonObject:
        return {"enum": list(self.options)}

    def describe(self) -> str:
        return " / ".join(f'"{option}"' for option in self.options)


@dataclass(frozen=True, eq=False, repr=False)
class ListOf:
    """A list; if `or_single`, one value alone stands for a list of one."""

    item: SettingShape
    or_single: bool = False
    min_items: int = 0

    def read(self, value: object, at: ConfigPlace) -> tuple[object, ...]:
        places = [at]
        if isinstance(value, list):
            places = [at.child(index) for index in range(len(value))]
        elif not self.or_single:
            raise at.error(f"expected {self.describe()}, found {json_type(value)}")
        if len(places) < self.min_items:
            raise at.error(f"expected {self.describe()}, found an empty list")
        errors = ErrorCollector()
        items = zip(value if isinstance(value, list) else [value], places, strict=True)
        found = tuple(read for each, place in items for read in errors.attempt(self.item.read, each, place))
        errors.raise_collected(found if len(found) >= self.min_items else None)
        return found

    def schema(self) -> JsonObject:
        many: JsonObject = {"type": "array", "items": self.item.schema()}
        if self.min_items:
            many["minItems"] = self.min_items
        return {"anyOf": [self.item.schema(), many]} if self.or_single else many

    def describe(self) -> str:
        item = self.item.describe()
        return f"{item}, or a list of them" if self.or_single else f"list of: {item}"


@dataclass(frozen=True, eq=False, repr=False)
class MapOf:
    """An object with any keys."""

    item: SettingShape
    key: str = "name"

    def read(self, value: object, at: ConfigPlace) -> dict[str, object]:
        if not isinstance(value, dict):
            raise at.error(f"expected an object, found {json_type(value)}")
        found: dict[str, object] = {}
        errors = ErrorCollector()
        for key, each in value.items():
            found.update((key, read) for read in errors.attempt(self.item.read, each, at.child(key)))
        errors.raise_collected(found)
        return found

    def schema(self) -> JsonObject:
        return {"type": "object", "additionalProperties": self.item.schema()}

    def describe(self) -> str:
        return f"object: {self.key} → {self.item.describe()}"


@dataclass(frozen=True, eq=False, repr=False)
class Anything:
    """A value that its owner checks later (the options of a transformer)."""

    description: str = "object"
    json_schema: Mapping[str, object] = field(default_factory=lambda: {"type": "object"})

    def read(self, value: object, at: ConfigPlace) -> object:
        if self.json_schema.get("type") == "object" and not isinstance(value, dict):
            raise at.error(f"expected {self.description}, found {json_type(value)}")
        return value

    def schema(self) -> JsonObject:
        return dict(self.json_schema)

    def describe(self) -> str:
        return self.description


@dataclass(frozen=True, eq=False, repr=False)
class Either:
    """The object form if it is an object, else the short form."""

    short: SettingShape
    table: SettingShape

    def read(self, value: object, at: ConfigPlace) -> object:
        return (self.table if isinstance(value, dict) else self.short).read(value, at)

    def schema(self) -> JsonObject:
        return {"anyOf": [self.short.schema(), self.table.schema()]}

    def describe(self) -> str:
        return f"{self.short.describe()}, or {self.table.describe()}"
