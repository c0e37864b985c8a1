from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import Document
from moongate.gateway.config.shapes import (
    REQUIRED,
    Anything,
    Either,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOf,
    Place,
    Shape,
    Table,
    Text,
    nearest,
    setting,
)

AT = Place(Document("f", None, {}), "x")
SECONDS = Number(1, 9, unit="seconds")


@dataclass(frozen=True)
class Row:
    """A row."""

    name: str = setting(Text(), REQUIRED, "its name")
    size: int = setting(Number(0, 5, whole=True), 2, "its size")
    extra: dict[str, Any] = setting(Anything(), {}, "more")  # noqa: RUF009 (it makes a field)
    at: Place | None = field(default=None, compare=False)


@pytest.mark.parametrize(
    ("shape", "value", "read"),
    [
        (Text(), "a", "a"),
        (Text(r"[ab]+"), "ab", "ab"),
        (Flag(), False, False),
        (SECONDS, 2, 2.0),
        (Number(0, 5, whole=True), 0, 0),
        (OneOf(("a", "b")), "b", "b"),
        (ListOf(Text()), ["a", "b"], ("a", "b")),
        (ListOf(Text(), or_one=True), "a", ("a",)),
        (MapOf(Flag()), {"x": True}, {"x": True}),
        (Anything(), {"any": [1]}, {"any": [1]}),
        (Anything("use", {"type": ["string", "array"]}), ["Kimi"], ["Kimi"]),
        (Either(Text(), Table(Row)), "short", "short"),
        (Either(Text(), Table(Row)), {"name": "n"}, Row("n")),
        (Table(Row), {"name": "n", "size": 3}, Row("n", 3)),
    ],
)
def test_good_values_are_read(shape: Shape, value: Any, read: Any) -> None:
    assert shape.read(value, AT) == read
    assert shape.words()
    assert shape.schema()


@pytest.mark.parametrize(
    ("shape", "value", "message"),
    [
        (Text(), 1, "x: expected text, found a number"),
        (Text(), " ", "x: expected text, found an empty text"),
        (Text(r"[ab]+", about="a or b"), "c", "x: expected a or b, found 'c'"),
        (Flag(), 1, "x: expected true or false, found a number"),
        (SECONDS, True, "x: expected seconds, 1 … 9, found true or false (True)"),
        (SECONDS, "2", "x: expected seconds, 1 … 9, found a text ('2')"),
        (SECONDS, 10, "x: expected seconds, 1 … 9, found 10"),
        (Number(0, 5, whole=True), 1.5, "x: expected whole number, 0 … 5, found a number (1.5)"),
        (OneOf(("auto", "json")), "jsn", "x: unknown value 'jsn', did you mean 'json'?"),
        (OneOf(("auto", "json")), None, "x: unknown value None; known: auto, json"),
        (ListOf(Text()), "a", "x: expected list of: text, found a text"),
        (ListOf(Text(), least=1), [], "x: expected list of: text, found an empty list"),
        (ListOf(Text()), ["a", 2], "x[1]: expected text, found a number"),
        (MapOf(Text()), [], "x: expected an object, found a list"),
        (MapOf(Text()), {"a b": 2}, 'x["a b"]: expected text, found a number'),
        (Anything("options"), None, "x: expected options, found null"),
        (Table(Row), [], "x: expected an object, found a list"),
        (Table(Row), {"nam": "n"}, "x.nam: unknown setting 'nam', did you mean 'name'?"),
        (Table(Row), {"size": 1}, "x: 'name' is missing"),
        (Table(Row), {"name": "n", "size": 9}, "x.size: expected whole number, 0 … 5, found 9"),
    ],
)
def test_bad_values_are_refused_with_their_path(shape: Shape, value: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        shape.read(value, AT)
    assert str(caught.value) == "f:1: " + message


def test_a_table_remembers_where_it_stood() -> None:
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


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [("prot", ["host", "port"], ", did you mean 'port'?"), ("zzz", ["a"], "; known: a"), ("zzz", [], "")],
)
def test_the_nearest_name(name: str, known: list[str], hint: str) -> None:
    assert nearest(name, known) == hint
