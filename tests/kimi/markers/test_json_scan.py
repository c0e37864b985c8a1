"""The scanner agrees with a real JSON parser, and knows what may still become JSON."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.json_scan import Completeness, JsonScanner, accepts, is_json


def shape_of(*pieces: str) -> Completeness:
    scanner = JsonScanner()
    for piece in pieces:
        scanner.feed(piece)
    return scanner.completeness


COMPLETE = [
    *("{}", "[]", '""', "0", "-0", "12", "-1.5e+3", "1E9", "0.5", "true", "false", "null", " [ 1 , 2 ] "),
    *('{"a": {"b": [1, "x", null]}, "c": false}', '"\\u00e9\\n\\"\\\\"', '"é🗼"', '{"a":[]}', "[[],{}]", "[1 ]"),
]
OPEN = [
    *("", " ", "{", "[", '"', '"a\\', '"\\u', '"\\u00e', "-", "1.", "1e", "1e+", "t", "fals", "nul", "[1", "[1,"),
    *('{"a"', '{"a":', '{"a":1', '{"a":1,', '{ "a" : [ ', '{"a": "x <|tool_call_end|> '),
]
BROKEN = [
    *("}", "]", ",", ":", "x", "01", "1..", "1.e", "--", "+1", "tx", "nuxl", "[,", "[1,,", "[1,]x", '{"a",', "{1"),
    *('{"a":1,}', '"\n', '"\\x', '"\\ug', "{}x", "{} {", "[1}", '{"a":1]', "1 2", "'a'", "NaN", "1e5.", '"a" "'),
    *("<|", "{<", "[<", '{"a" <', '{"a": <', "\u00a01", "1,", "],", '{"a":}'),
]


@pytest.mark.parametrize("text", COMPLETE)
def test_whole(text: str) -> None:
    assert shape_of(text) is Completeness.COMPLETE
    assert shape_of(*text) is Completeness.COMPLETE
    assert is_json(text)


@pytest.mark.parametrize("text", OPEN)
def test_open(text: str) -> None:
    assert shape_of(text) is Completeness.OPEN
    assert shape_of(*text) is Completeness.OPEN
    assert not is_json(text)


@pytest.mark.parametrize("text", BROKEN)
def test_broken(text: str) -> None:
    assert shape_of(text) is Completeness.BROKEN
    assert shape_of(*text, '"}]') is Completeness.BROKEN, "it stays broken"
    assert not is_json(text)


@pytest.mark.parametrize(
    ("text", "read", "was_complete"),
    [
        ('{"a": 1} <', 10, True),
        ('"a"<b', 4, True),
        ("12x", 3, True),
        ("[1<2", 3, False),
        ('{"a<b"', 6, False),
        ('"a\n"', 3, False),
        ("[1]]]", 5, False),
        ("{]", 2, False),
        ("", 0, False),
    ],
)
def test_position_and_state_of_the_error(text: str, read: int, was_complete: bool) -> None:
    scanner = JsonScanner()
    assert scanner.feed(text) == read
    assert scanner.was_complete is was_complete


def test_inside_a_string() -> None:
    scanner = JsonScanner()
    for text, inside in (("[", False), ('"a', True), ("\\", False), ('"', True), ('"', False)):
        scanner.feed(text)
        assert scanner.in_string is inside


def test_the_fast_test() -> None:
    assert all(map(accepts, ("{}", " [1] ", "12", '"a"', "true")))
    assert not any(map(accepts, ("", "{", "[}", '"a', "x", '"\\ud800"')))
    assert is_json('"\\ud800"')


def test_depth_and_size_do_not_matter() -> None:
    assert is_json("[" * 100_000 + "]" * 100_000)
    assert is_json("9" * 100_000)
    assert not is_json("[" * 100_000)
