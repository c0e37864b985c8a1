from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.shapes import Anything, Number, TextSetting
from moongate.gateway.config.table import REQUIRED, Table, setting, settings_of

AT = ConfigPlace(ConfigDocument("f", None, {}), "x")


@dataclass(frozen=True)
class Row:
    """A row."""

    name: str = setting(TextSetting(), REQUIRED, "its name")
    size: int = setting(Number(0, 5, integer=True), 2, "its size")
    extra: dict[str, Any] = setting(Anything(), {}, "more")  # noqa: RUF009 (it makes a field)
    at: ConfigPlace | None = field(default=None, compare=False)


def test_a_row_keeps_its_place() -> None:
    assert Table(Row).read({"name": "n"}, AT).at == AT


def test_a_table_gives_its_schema() -> None:
    assert Table(Row).schema() == {
        "type": "object",
        "properties": {
            "name": {"description": "its name", "type": "string", "minLength": 1},
            "size": {"description": "its size", "type": "integer", "minimum": 0, "maximum": 5},
            "extra": {"description": "more", "type": "object"},
        },
        "additionalProperties": False,
        "required": ["name"],
    }


def test_defaults_are_not_shared() -> None:
    assert Row("a").extra is not Row("b").extra


def test_only_settings_are_listed() -> None:
    assert [each.name for each in settings_of(Row)] == ["name", "size", "extra"]
