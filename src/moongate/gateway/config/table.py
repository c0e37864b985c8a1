"""Tables: objects in the file that become frozen dataclasses, one declaration per setting.

    @dataclass(frozen=True)
    class Timeouts:
        connect: float = setting(SECONDS, 5.0, "opening a connection to the provider")

`Table(Timeouts).read(value, place)` builds a `Timeouts`, or raises ConfigError with file, line, path and the nearest
known name. The JSON Schema and the documentation are made from the same declarations.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from moongate.gateway.config.places import ConfigPlace, ErrorCollector, json_type, suggest
from moongate.gateway.config.shapes import SettingShape, TextSetting
from moongate.payload import JsonObject

REQUIRED: Final = object()
TEXT: Final = TextSetting()
Row = TypeVar("Row")


@dataclass(frozen=True, eq=False, repr=False)
class Table(Generic[Row]):
    """An object whose keys are the fields of a frozen dataclass."""

    row: type[Row]

    def read(self, value: object, at: ConfigPlace) -> Row:
        if not isinstance(value, dict):
            raise at.error(f"expected an object, found {json_type(value)}")
        known = {each.name: each for each in settings_of(self.row)}
        errors = ErrorCollector()
        unknown = {key: suggest(key, known) for key in value if key not in known}
        errors.errors += [at.child(key).error(f"unknown setting {key!r}{near}") for key, near in unknown.items()]
        found: JsonObject = {}
        for name, each in known.items():
            if name in value:
                found.update(
                    (name, read) for read in errors.attempt(each.metadata["shape"].read, value[name], at.child(name))
                )
            elif each.metadata["default"] is REQUIRED and f", did you mean {name!r}?" not in unknown.values():
                errors.errors.append(at.error(f"{name!r} is missing"))
        if any(name not in found for name, each in known.items() if each.metadata["default"] is REQUIRED):
            errors.raise_collected()
        if any(each.name == "at" for each in dataclasses.fields(self.row)):  # type: ignore[arg-type]
            found["at"] = at
        row = self.row(**found)
        errors.raise_collected(row)
        return row

    def schema(self) -> JsonObject:
        properties = {}
        for each in settings_of(self.row):
            properties[each.name] = {"description": each.metadata["description"], **each.metadata["shape"].schema()}
        required = [each.name for each in settings_of(self.row) if each.metadata["default"] is REQUIRED]
        schema: JsonObject = {"type": "object", "properties": properties, "additionalProperties": False}
        return schema | ({"required": required} if required else {})

    def describe(self) -> str:
        return f"object (see {self.row.__name__})"


class ShortForm(Generic[Row]):
    """A text alone stands for an object with its one required setting."""

    __slots__ = ("_key", "_row", "_shape")

    def __init__(self, row: type[Row], key: str, shape: SettingShape = TEXT) -> None:
        self._row, self._key, self._shape = row, key, shape

    def read(self, value: object, at: ConfigPlace) -> Row:
        settings: JsonObject = {self._key: self._shape.read(value, at), "at": at}
        return self._row(**settings)

    def schema(self) -> JsonObject:
        return self._shape.schema()

    def describe(self) -> str:
        return self._shape.describe()


def setting(shape: SettingShape, default: object, description: str) -> Any:
    """A field of a table: what it may be, its default (REQUIRED: it must be given), and what it is for."""
    metadata = {"shape": shape, "default": default, "description": description}
    if default is REQUIRED:
        return dataclasses.field(metadata=metadata)
    if isinstance(default, dict):
        return dataclasses.field(default_factory=lambda: dict(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def settings_of(row: type) -> list[dataclasses.Field[Any]]:
    """The fields of a table that were declared by `setting`."""
    return [each for each in dataclasses.fields(row) if "shape" in each.metadata]
