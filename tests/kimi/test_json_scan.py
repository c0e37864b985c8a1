"""The scanner agrees with a real JSON parser, and knows what may still become JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moongate.kimi.json_scan import JsonScanner, Shape, accepts, is_json


def shape_of(*pieces: str) -> Shape:
    scanner = JsonScanner()
    for piece in pieces:
        scanner.feed(piece)
    return scanner.shape


def parses(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


WHOLE = [
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


@pytest.mark.parametrize("text", WHOLE)
def test_whole(text: str) -> None:
    assert shape_of(text) is Shape.WHOLE
    assert shape_of(*text) is Shape.WHOLE
    assert is_json(text)


@pytest.mark.parametrize("text", OPEN)
def test_open(text: str) -> None:
    assert shape_of(text) is Shape.OPEN
    assert shape_of(*text) is Shape.OPEN
    assert not is_json(text)


@pytest.mark.parametrize("text", BROKEN)
def test_broken(text: str) -> None:
    assert shape_of(text) is Shape.BROKEN
    assert shape_of(*text, '"}]') is Shape.BROKEN, "it stays broken"
    assert not is_json(text)


@pytest.mark.parametrize(
    ("text", "read", "was_whole"),
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
def test_where_and_when_it_broke(text: str, read: int, was_whole: bool) -> None:
    scanner = JsonScanner()
    assert scanner.feed(text) == read
    assert scanner.was_whole is was_whole


def test_inside_a_string() -> None:
    scanner = JsonScanner()
    for text, inside in (("[", False), ('"a', True), ("\\", False), ('"', True), ('"', False)):
        scanner.feed(text)
        assert scanner.in_string is inside


def test_json_at_first_sight() -> None:
    assert all(map(accepts, ("{}", " [1] ", "12", '"a"', "true")))
    assert not any(map(accepts, ("", "{", "[}", '"a', "x", '"\\ud800"')))
    assert is_json('"\\ud800"')


def test_depth_and_size_do_not_matter() -> None:
    assert is_json("[" * 100_000 + "]" * 100_000)
    assert is_json("9" * 100_000)
    assert not is_json("[" * 100_000)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text('{}[]",:\\ 01-e.truefalsn\n', max_size=12), st.integers(0, 12))
def test_it_agrees_with_a_parser(text: str, cut: int) -> None:
    assert (shape_of(text[:cut], text[cut:]) is Shape.WHOLE) == parses(text)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    st.booleans(),
)
def test_no_beginning_of_json_is_broken(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    scanner = JsonScanner()
    for char in text:
        assert scanner.shape is not Shape.BROKEN
        scanner.feed(char)
    assert scanner.shape is Shape.WHOLE
