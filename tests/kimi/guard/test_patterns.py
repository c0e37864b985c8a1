"""The keywords with regular expressions."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.kimi.guard import keywords
from moongate.kimi.guard.check import CheckSteps, SchemaCheck
from moongate.kimi.guard.pattern import MAX_TEXT
from moongate.kimi.guard.patterns import matching, schemas_of

assert keywords  # they declare the others

TEXT, NUMBER = {"type": "string"}, {"type": "number"}

# schema, values that fit, values that do not
KEYWORDS: list[tuple[Any, list[Any], list[Any]]] = [
    ({"pattern": r"^\d{4}-\d{2}$"}, ["2026-11", 7, None], ["2026-1", "a 2026-11", "2026-11\n"]),
    ({"pattern": "b"}, ["abc"], ["ac", ""]),
    ({"pattern": 7}, ["a"], []),
    ({"pattern": "(a"}, ["b"], []),
    ({"pattern": "^(?!a)"}, ["a", "b"], []),
    ({"pattern": "^a+$"}, ["a", "b" * (MAX_TEXT + 1)], ["b"]),
    ({"patternProperties": {"^n": NUMBER, "x$": TEXT}}, [{"n": 1, "ax": "a", "b": None}, 1], [{"n": ""}, {"nx": 1}]),
    ({"patternProperties": {"(?=n)": NUMBER}}, [{"n": ""}], []),
    ({"patternProperties": []}, [{"n": ""}], []),
    ({"not": {"$dynamicRef": "#a"}}, [1], []),
    ({"$recursiveRef": "#"}, [1], []),
]


@pytest.mark.parametrize(("schema", "fitting", "others"), KEYWORDS, ids=lambda each: str(each)[:60])
def test_keyword(schema: Any, fitting: list[Any], others: list[Any]) -> None:
    for value in fitting:
        assert SchemaCheck(schema).mismatch(value) is None, value
    for value in others:
        assert SchemaCheck(schema).mismatch(value) is not None, value


def test_what_is_wrong_is_told() -> None:
    assert str(SchemaCheck({"pattern": "^a$"}).mismatch("b")) == "the arguments: must match the pattern ^a$"


def test_the_schemas_of_a_property() -> None:
    schema = {"properties": {"n": NUMBER}, "patternProperties": {"^n": TEXT}, "additionalProperties": False}
    check = SchemaCheck(schema)
    assert schemas_of(check, schema, "n") == [NUMBER, TEXT]
    assert schemas_of(check, schema, "nn") == [TEXT]
    assert schemas_of(check, schema, "a") == [False]
    assert schemas_of(check, {}, "a") == [None]
    unclear = {"properties": {"n": NUMBER}, "patternProperties": {"(?=n)": TEXT}, "additionalProperties": False}
    assert matching(check, unclear, "n") is None
    assert (schemas_of(check, unclear, "n"), schemas_of(check, unclear, "a")) == ([NUMBER], [])


def test_thousands_of_expressions_are_not_all_read() -> None:
    """Each takes two thousand states. A check that takes too many steps is given up, and the value fits."""
    steps = CheckSteps(10_000)
    forbidden = {f"many|x{{1900}}{number}": False for number in range(1000)}
    schema = {"patternProperties": {**forbidden, "^a": False}}
    assert SchemaCheck(schema, steps=steps).mismatch({"a": 1}) is None
    assert steps.left == 0


def test_expressions_that_are_not_checked_take_steps_too() -> None:
    """Thousands of properties by thousands of them took minutes."""
    unreadable = {f"(?=a){number}": False for number in range(200)}
    schema = {"patternProperties": unreadable, "additionalProperties": False}
    steps = CheckSteps(10_000)
    assert SchemaCheck(schema, steps=steps).mismatch({f"{number}": 1 for number in range(100)}) is None
    assert steps.left == 0
