"""What a setting may be. One declaration per setting gives the reader, the JSON Schema and the documentation.

    @dataclass(frozen=True)
    class Timeouts:
        connect: float = setting(SECONDS, 5.0, "opening a connection to the provider")

`Table(Timeouts).read(value, place)` builds a `Timeouts`, or raises ConfigError with file, line, path and the
nearest known name. Shapes never see the environment or the disk; what needs them is done after reading.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import Document, join_path
from moongate.payload import JsonObject

REQUIRED: Final = object()


@dataclass(frozen=True, eq=False, repr=False)
class Place:
    """Where in which file a value stands."""

    document: Document
    path: str = ""

    def child(self, key: str | int) -> Place:
        return Place(self.document, join_path(self.path, key))

    def error(self, message: str) -> ConfigError:
        return self.document.error(self.path, message)


class Shape(Protocol):
    def read(self, value: Any, at: Place) -> Any: ...

    def schema(self) -> JsonObject: ...

    def words(self) -> str:
        """For the documentation."""
        ...


def nearest(name: str, known: Iterable[str]) -> str:
    """`, did you mean 'x'?`, or the names there are."""
    import difflib  # only mistakes need it

    names = list(known)
    by_lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f", did you mean {by_lower[close[0]]!r}?"
    return f"; known: {', '.join(names)}" if names else ""


def kind_of(value: Any) -> str:
    """The JSON type, in a person's words."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


@dataclass(frozen=True, eq=False, repr=False)
class Text:
    """A non-empty text."""

    pattern: str = ""
    about: str = "text"

    def read(self, value: Any, at: Place) -> str:
        if not isinstance(value, str):
            raise at.error(f"expected {self.about}, found {kind_of(value)}")
        if not value.strip():
            raise at.error(f"expected {self.about}, found an empty text")
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise at.error(f"expected {self.about}, found {value!r}")
        return value

    def schema(self) -> JsonObject:
        return {"type": "string", "minLength": 1} | ({"pattern": f"^(?:{self.pattern})$"} if self.pattern else {})

    def words(self) -> str:
        return self.about


@dataclass(frozen=True, eq=False, repr=False)
class Flag:
    def read(self, value: Any, at: Place) -> bool:
        if not isinstance(value, bool):
            raise at.error(f"expected true or false, found {kind_of(value)}")
        return value

    def schema(self) -> JsonObject:
        return {"type": "boolean"}

    def words(self) -> str:
        return "true / false"


@dataclass(frozen=True, eq=False, repr=False)
class Number:
    """A number from `least` to `most`; `whole` ones only if so."""

    least: float
    most: float
    whole: bool = False
    unit: str = ""

    def read(self, value: Any, at: Place) -> Any:
        kinds = (int,) if self.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value):
            raise at.error(f"expected {self.words()}, found {kind_of(value)} ({value!r})")
        if not self.least <= value <= self.most:
            raise at.error(f"expected {self.words()}, found {value}")
        return value if self.whole else float(value)

    def schema(self) -> JsonObject:
        return {"type": "integer" if self.whole else "number", "minimum": self.least, "maximum": self.most}

    def words(self) -> str:
        kind = "whole number" if self.whole else self.unit or "number"
        return f"{kind}, {self.least:.12g} … {self.most:.12g}"


@dataclass(frozen=True, eq=False, repr=False)
class OneOf:
    """One of a few words."""

    options: tuple[str, ...]

    def read(self, value: Any, at: Place) -> str:
        if value not in self.options or not isinstance(value, str):
            raise at.error(f"unknown value {value!r}{nearest(str(value), self.options)}")
        return value

    def schema(self) -> JsonObject:
        return {"enum": list(self.options)}

    def words(self) -> str:
        return " / ".join(f'"{word}"' for word in self.options)


@dataclass(frozen=True, eq=False, repr=False)
class ListOf:
    """A list; a single value stands for a list of one if `or_one`."""

    item: Shape
    or_one: bool = False
    least: int = 0

    def read(self, value: Any, at: Place) -> tuple[Any, ...]:
        if self.or_one and not isinstance(value, list):
            return (self.item.read(value, at),)
        if not isinstance(value, list):
            raise at.error(f"expected {self.words()}, found {kind_of(value)}")
        if len(value) < self.least:
            raise at.error(f"expected {self.words()}, found an empty list")
        return tuple(self.item.read(each, at.child(i)) for i, each in enumerate(value))

    def schema(self) -> JsonObject:
        many: JsonObject = {"type": "array", "items": self.item.schema()}
        if self.least:
            many["minItems"] = self.least
        return {"anyOf": [self.item.schema(), many]} if self.or_one else many

    def words(self) -> str:
        return f"{self.item.words()}, or a list of them" if self.or_one else f"list of: {self.item.words()}"


@dataclass(frozen=True, eq=False, repr=False)
class MapOf:
    """An object with free keys."""

    item: Shape
    key: str = "name"

    def read(self, value: Any, at: Place) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise at.error(f"expected an object, found {kind_of(value)}")
        return {key: self.item.read(each, at.child(key)) for key, each in value.items()}

    def schema(self) -> JsonObject:
        return {"type": "object", "additionalProperties": self.item.schema()}

    def words(self) -> str:
        return f"object: {self.key} → {self.item.words()}"


@dataclass(frozen=True, eq=False, repr=False)
class Anything:
    """Read later, by whoever it belongs to (the options of a transformer)."""

    about: str = "object"
    json: Mapping[str, Any] = dataclasses.field(default_factory=lambda: {"type": "object"})

    def read(self, value: Any, at: Place) -> Any:
        if self.json.get("type") == "object" and not isinstance(value, dict):
            raise at.error(f"expected {self.about}, found {kind_of(value)}")
        return value

    def schema(self) -> JsonObject:
        return dict(self.json)

    def words(self) -> str:
        return self.about


@dataclass(frozen=True, eq=False, repr=False)
class Either:
    """The object form if it is an object, else the short form."""

    short: Shape
    table: Shape

    def read(self, value: Any, at: Place) -> Any:
        return (self.table if isinstance(value, dict) else self.short).read(value, at)

    def schema(self) -> JsonObject:
        return {"anyOf": [self.short.schema(), self.table.schema()]}

    def words(self) -> str:
        return f"{self.short.words()}, or {self.table.words()}"


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """An object whose keys are the fields of a frozen dataclass."""

    row: Any  # the dataclass

    def read(self, value: Any, at: Place) -> Any:
        if not isinstance(value, dict):
            raise at.error(f"expected an object, found {kind_of(value)}")
        known = {each.name: each for each in settings_of(self.row)}
        for key in value:
            if key not in known:
                raise at.child(key).error(f"unknown setting {key!r}{nearest(key, known)}")
        found: dict[str, Any] = {}
        for name, each in known.items():
            if name in value:
                found[name] = each.metadata["shape"].read(value[name], at.child(name))
            elif each.metadata["default"] is REQUIRED:
                raise at.error(f"{name!r} is missing")
        if "at" in self.row.__dataclass_fields__:
            found["at"] = at
        return self.row(**found)

    def schema(self) -> JsonObject:
        properties = {}
        for each in settings_of(self.row):
            properties[each.name] = {"description": each.metadata["about"], **each.metadata["shape"].schema()}
        required = [each.name for each in settings_of(self.row) if each.metadata["default"] is REQUIRED]
        schema: JsonObject = {"type": "object", "properties": properties, "additionalProperties": False}
        return schema | ({"required": required} if required else {})

    def words(self) -> str:
        return f"object (see {self.row.__name__})"


def setting(shape: Shape, default: Any, about: str) -> Any:
    """A field of a table: what it may be, what it is if absent (REQUIRED: it must be there), what it is for."""
    metadata = {"shape": shape, "default": default, "about": about}
    if default is REQUIRED:
        return dataclasses.field(metadata=metadata)
    if isinstance(default, dict):
        return dataclasses.field(default_factory=lambda: dict(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def settings_of(row: Any) -> list[dataclasses.Field[Any]]:
    return [each for each in dataclasses.fields(row) if "shape" in each.metadata]
