from __future__ import annotations

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import MAX_DEPTH, join_path, parse

COMMENTED = """\
// first line
{
  /* a block
     of two lines */
  "name": "one", // behind
  "list": [1, 2.5, -3e2, true, false, null,],
  "inner": {
    "deep": [{"x": "//no comment"}],
  },
}
"""


def test_comments_and_trailing_commas_are_allowed() -> None:
    assert parse(COMMENTED, "f").value == {
        "name": "one",
        "list": [1, 2.5, -300.0, True, False, None],
        "inner": {"deep": [{"x": "//no comment"}]},
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [("", 2), ("name", 5), ("list", 6), ("list[3]", 6), ("inner.deep[0].x", 8), ("inner.missing.more", 7), ("gone", 2)],
)
def test_every_path_has_a_line(path: str, line: int) -> None:
    assert parse(COMMENTED, "f").line(path) == line


def test_an_error_names_file_line_and_path() -> None:
    document = parse(COMMENTED, "some.json")
    assert str(document.error("inner.deep", "is wrong")) == "some.json:8: inner.deep: is wrong"
    assert str(document.error("", "is wrong")) == "some.json:2: is wrong"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f:1:1: expected a value"),
        ("{", "f:1:2: the text ends, but the '{' of line 1 is not closed"),
        ("[1", "f:1:3: the text ends, but the '[' of line 1 is not closed"),
        ('{\n  "a": 1\n  "b": 2\n}', "f:2:9: expected ',' or '}' here"),
        ("[1\n\n// more\n2]", "f:1:3: expected ',' or ']' here"),
        ('{\n"a": [{\n"b": 1 ]}', "f:3:8: expected '}': the '{' of line 2 is not closed"),
        ('{"a": [1, 2}', "f:1:12: expected ']': the '[' of line 1 is not closed"),
        ('{\n"a": {\n"b": 1\n}\n', "f:5:1: the text ends, but the '{' of line 1 is not closed"),
        ('{"a" 1}', "f:1:6: expected ':'"),
        ("{a: 1}", "f:1:2: expected a key in double quotes"),
        ('{"a": 1, "a": 2}', "f:1:13: 'a' is given twice"),
        ('{"a": nope}', "f:1:7: expected a value"),
        ('["\\q"]', "f:1:2: a text with a wrong \\ in it"),
        ("[01]", "f:1:2: not a number as JSON writes it"),
        ("[1.]", "f:1:2: not a number as JSON writes it"),
        ("1 2", "f:1:3: something follows the end of the configuration"),
        ("[] x", "f:1:4: something follows the end of the configuration"),
        ('{"a": 1} {"b": 2} x', "f:1:19: expected a value"),
        ("/* no end", "f:1:1: expected a value"),
        ('{"a": "no end}', "f:1:7: a text without its closing '\"'"),
    ],
)
def test_what_is_not_json_is_refused_with_line_and_column(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, "f")
    assert str(caught.value).split("\n")[0] == message


def test_the_line_of_an_error_is_shown_without_its_values() -> None:
    with pytest.raises(ConfigError) as caught:
        parse('{\n  "api_key": "sk-canary"\n  "models": []\n}', "f")
    assert str(caught.value) == "f:2:25: expected ',' or '}' here\n  2 | \"api_key\": \"…\"\n                    ^"


def test_depth_has_a_limit() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH, "f").value
    with pytest.raises(ConfigError, match="nested deeper"):
        parse("[" * 5000, "f")


def test_consecutive_objects_are_a_list() -> None:
    document = parse('{"a": 1}\n\n{"b": 2}\n', "f")
    assert document.value == [{"a": 1}, {"b": 2}]
    assert document.line("[1].b") == 3


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse("\ufeff[]", "f").value == []


@pytest.mark.parametrize(
    ("path", "key", "joined"),
    [("", "a", "a"), ("a", "b", "a.b"), ("a", 0, "a[0]"), ("a", "claude-*", 'a["claude-*"]'), ("", 3, "[3]")],
)
def test_paths(path: str, key: str | int, joined: str) -> None:
    assert join_path(path, key) == joined
