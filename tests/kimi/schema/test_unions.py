"""Unions of consts, and words that move into branches."""

from __future__ import annotations

from typing import Any

from moongate.kimi.schema.unions import are_consts, enumerated, moved_into


def test_what_is_a_union_of_consts() -> None:
    assert are_consts([{"const": 1}, {"const": None, "type": "null", "title": "t", "$comment": "c"}])
    others: list[Any] = [{"const": 1, "minLength": 1}, {"enum": [1]}, True, {}]
    for other in others:
        assert not are_consts([{"const": 1}, other])
        assert not are_consts([other, {"const": 1}])


def test_a_union_of_consts_is_an_enum() -> None:
    union: list[dict[str, Any]] = [{"const": "a"}, {"const": "b", "type": "string"}]
    assert enumerated({"title": "t", "anyOf": union}, union) == {"title": "t", "enum": ["a", "b"], "type": ["string"]}
    assert enumerated({"type": "string", "enum": ["b"], "anyOf": union}, union) == {"type": "string", "enum": ["b"]}


def test_types_of_consts() -> None:
    union: list[dict[str, Any]] = [
        {"const": 1, "type": "number"},
        {"const": 2},
        {"const": None},
        {"const": 3, "type": 4},
    ]
    assert enumerated({}, union)["type"] == ["number", "null"]
    assert enumerated({}, [{"const": 1, "type": "string"}])["type"] == ["integer"]


def test_words_move_into_branches() -> None:
    words = {"type": "string", "minLength": 1}
    assert moved_into(False, words) is False
    assert moved_into(True, words) == {"allOf": [True, words]}
    assert moved_into({"type": "null"}, words) == {"allOf": [{"type": "null"}, {"minLength": 1}]}
    for branch in ({"$ref": "#"}, {"type": "null"}):
        assert moved_into(branch, {"type": "string"}) is branch
    loose = {"type": "any"}
    assert moved_into(loose, words) == {"allOf": [loose, words]}
