"""Files in JSON5, as claude-code-router reads them."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from moongate.cli.json5_file import parse_json5
from moongate.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, $b_2 : 'x'}", {"a": 1, "$b_2": "x"}),
        ("{'a': ['b',], /* c: 'd' */ \"e: 'f'\": 1} // g: 'h'", {"a": ["b"], "e: 'f'": 1}),
        (r"""{a: 'it\'s "so"', b: '\n\u00e9', c: "'"}""", {"a": 'it\'s "so"', "b": "\né", "c": "'"}),
        ("{a: 'one \\\nline'}", {"a": "one line"}),
        ("{a: .5, b: -.5, c: +.5, d: 0.25, e: 'v1.5'}", {"a": 0.5, "b": -0.5, "c": 0.5, "d": 0.25, "e": "v1.5"}),
        ('{"url": "http://a/b", "n": 1e3}', {"url": "http://a/b", "n": 1000.0}),
    ],
)
def test_it_is_read(text: str, value: Any) -> None:
    assert parse_json5(text, "f") == value


def test_a_mistake_has_its_line() -> None:
    with pytest.raises(ConfigError, match=r"expected a value") as error:
        parse_json5("{\n  a: b\n}", "f")
    assert error.value.path == "f:2:8"


@pytest.mark.parametrize("text", ["{" + "a" * 200_000, "/*" * 200_000, "{a" + " " * 200_000, "{'" + "\\" * 200_001])
def test_files_that_are_none_take_no_longer(text: str) -> None:
    began = process_time()
    with pytest.raises(ConfigError):
        parse_json5(text, "f")
    assert process_time() - began < 5, "it took half an hour"
