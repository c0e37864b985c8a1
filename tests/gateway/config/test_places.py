from __future__ import annotations

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.places import ConfigPlace, json_type, line_of, suggest


def test_an_error_names_file_line_and_path() -> None:
    place = ConfigPlace(ConfigDocument("config.json", None, {"": 1, "a": 3})).child("a").child(0)
    assert str(place.error("wrong")) == "config.json:3: a[0]: wrong"
    assert line_of(place.error("wrong"), "config.json") == 3
    assert line_of(ConfigError("not UTF-8", path="config.json"), "config.json") == 0


@pytest.mark.parametrize(
    ("value", "name"),
    [({}, "an object"), ([], "a list"), ("", "a text"), (True, "true or false"), (None, "null"), (1.5, "a number")],
)
def test_json_types_in_words(value: object, name: str) -> None:
    assert json_type(value) == name


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [("prot", ["host", "port"], ", did you mean 'port'?"), ("zzz", ["a"], "; known: a"), ("zzz", [], "")],
)
def test_the_nearest_known_name_is_suggested(name: str, known: list[str], hint: str) -> None:
    assert suggest(name, known) == hint
