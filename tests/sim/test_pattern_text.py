from __future__ import annotations

import re

import pytest

from moongate.sim.pattern_text import MAX_NESTED_TEXT, text_for


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z]+$",
        r"^\d{4}-\d{2}-\d{2}$",
        r"^[A-Z]{2,5}_\w+?$",
        "^(?:red|green)$",
        "^(?P<year>[0-9]{4})$",
        r"^[^abc]\.x$",
        r"^[\d_]{3,}$",
        r"^a\tb?c*$",
        "x",
        "^$",
        "^.{3}$",
        r"^[\]x]$",
        r"\bword\b",
        "^(?=a)a$",
    ],
)
def test_a_text_matches_its_pattern(pattern: str) -> None:
    text = text_for(pattern)
    assert text is not None
    assert re.search(pattern, text)


def test_the_wished_text_is_kept_if_it_matches() -> None:
    assert text_for("^c", wished="city 0") == "city 0"
    assert text_for("^d", wished="city 0") == "d"


def test_texts_get_as_long_as_they_have_to_be() -> None:
    assert text_for("^a+$", 5) == "aaaaa"
    assert text_for("^x", 4) == "xaaa"
    assert text_for("^x$", 4) is None


@pytest.mark.parametrize("pattern", ["(", "x" * 301, "[[a]", "^(?!x)x$"])
def test_a_pattern_that_is_not_understood_has_no_text(pattern: str) -> None:
    assert text_for(pattern) is None


def test_nested_repetitions_are_not_tried_on_long_texts() -> None:
    pattern = r"^[A-Z]+-\d+(?:-\d+)*$"
    assert text_for(pattern) == "A-7"
    assert text_for(pattern, wished="ABC-1") == "ABC-1"
    assert text_for(pattern, wished="A" * MAX_NESTED_TEXT + "-1") == "A-7"
    assert text_for(pattern, 10) is None
