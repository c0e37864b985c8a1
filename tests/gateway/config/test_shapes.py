from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.shapes import (
    Anything,
    Either,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOf,
    SettingShape,
    TextSetting,
)
from moongate.gateway.config.table import REQUIRED, Table, setting

AT = ConfigPlace(ConfigDocument("f", None, {}), "x")
SECONDS = Number(1, 9, unit="seconds")


@dataclass(frozen=True)
class Row:
    """A row."""

    name: str = setting(TextSetting(), REQUIRED, "its name")
    size: int = setting(Number(0, 5, integer=True), 2, "its size")
    extra: dict[str, Any] = setting(Anything(), {}, "more")  # noqa: RUF009 (it makes a field)
    at: ConfigPlace | None = field(default=None, compare=False)


@pytest.mark.parametrize(
    ("shape", "value", "read"),
    [
        (TextSetting(), "a", "a"),
        (TextSetting(r"[ab]+"), "ab", "ab"),
        (Flag(), False, False),
        (SECONDS, 2, 2.0),
        (Number(0, 5, integer=True), 0, 0),
        (OneOf(("a", "b")), "b", "b"),
        (ListOf(TextSetting()), ["a", "b"], ("a", "b")),
        (ListOf(TextSetting(), or_single=True), "a", ("a",)),
        (MapOf(Flag()), {"x": True}, {"x": True}),
        (Anything(), {"any": [1]}, {"any": [1]}),
        (Anything("use", {"type": ["string", "array"]}), ["Kimi"], ["Kimi"]),
        (Either(TextSetting(), Table(Row)), "short", "short"),
        (Either(TextSetting(), Table(Row)), {"name": "n"}, Row("n")),
        (Table(Row), {"name": "n", "size": 3}, Row("n", 3)),
    ],
)
def test_good_values_are_read(shape: SettingShape, value: Any, read: Any) -> None:
    assert shape.read(value, AT) == read
    assert shape.describe()
    assert shape.schema()


@pytest.mark.parametrize(
    ("shape", "value", "message"),
    [
        (TextSetting(), 1, "x: expected text, found a number"),
        (TextSetting(), " ", "x: expected text, found an empty text"),
        (TextSetting(r"[ab]+", description="a or b"), "c", "x: expected a or b, found 'c'"),
        (Flag(), 1, "x: expected true or false, found a number"),
        (SECONDS, True, "x: expected seconds, 1 … 9, found true or false (True)"),
        (SECONDS, "2", "x: expected seconds, 1 … 9, found a text ('2')"),
        (SECONDS, float("inf"), "x: expected seconds, 1 … 9, found a number (inf)"),
        (SECONDS, 10**400, f"x: expected seconds, 1 … 9, found {10**400}"),
        (SECONDS, 10, "x: expected seconds, 1 … 9, found 10"),
        (Number(0, 5, integer=True), 1.5, "x: expected whole number, 0 … 5, found a number (1.5)"),
        (OneOf(("auto", "json")), "jsn", "x: unknown value 'jsn', did you mean 'json'?"),
        (OneOf(("auto", "json")), None, "x: unknown value None; known: auto, json"),
        (ListOf(TextSetting()), "a", "x: expected list of: text, found a text"),
        (ListOf(TextSetting(), min_items=1), [], "x: expected list of: text, found an empty list"),
        (ListOf(TextSetting()), ["a", 2], "x[1]: expected text, found a number"),
        (MapOf(TextSetting()), [], "x: expected an object, found a list"),
        (MapOf(TextSetting()), {"a b": 2}, 'x["a b"]: expected text, found a number'),
        (Anything("options"), None, "x: expected options, found null"),
        (Table(Row), [], "x: expected an object, found a list"),
        (Table(Row), {"nam": "n"}, "x.nam: unknown setting 'nam', did you mean 'name'?"),
        (Table(Row), {"size": 1}, "x: 'name' is missing"),
        (Table(Row), {"name": "n", "size": 9}, "x.size: expected whole number, 0 … 5, found 9"),
    ],
)
def test_bad_values_are_refused_with_their_path(shape: SettingShape, value: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        shape.read(value, AT)
    assert str(caught.value) == "f:1: " + message
