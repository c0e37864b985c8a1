"""Patterns agree with Python's engine, where that understands them alike."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.kimi.guard.pattern import pattern_of

ATOMS = st.sampled_from(
    [*"abc1-_ .^$", r"\.", r"\d", r"\w", r"\s", r"\W", "[a-c]", "[^a]", "[a-c1-3-]", r"[\d_]", r"\u0061", r"\b"]
)
TIMES = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?"])


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    grouped = st.builds("({}){}".format, inner, TIMES)
    return grouped | st.builds("{}|{}".format, inner, inner) | st.builds("{}{}".format, inner, inner)


EXPRESSIONS = st.recursive(ATOMS, _composed, max_leaves=8)
TEXTS = st.text(st.sampled_from("abc1-. _\t"), max_size=6)


@settings(max_examples=examples(500), deadline=None)
@given(EXPRESSIONS, TEXTS)
def test_found_where_python_finds_it(expression: str, text: str) -> None:
    pattern = pattern_of(expression)
    assert pattern is not None
    wanted = re.search(expression, text, re.ASCII) is not None
    steps: list[int] = []
    assert pattern.is_found_in(text, steps.append) is wanted
