from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moongate.dialects.messages.ids import given_id, shown_id

ALPHABET = "ab-_.:09é"


@pytest.mark.parametrize(
    ("original", "shown"),
    [
        ("functions.Bash:0", "functions--Bash--0"),
        ("functions.mcp__git__log:12", "functions--mcp__git__log--12"),
        ("functions.a--1:2", "functions--a--1--2"),
        ("call_1", "call_1"),
        ("toolu_01A", "toolu_01A"),
        ("Bash_3", "Bash_3"),
    ],
)
def test_ids_that_come_back_as_they_were(original: str, shown: str) -> None:
    assert shown_id(original) == shown
    assert given_id(shown) == original


@pytest.mark.parametrize(
    "original",
    [
        "functions.a.b:1",
        "functions--a--1",
        "a-.b:1",
        "functions.a:1234567890",
        "x" * 65,
        f"functions.{'x' * 60}:1",
        "é",
        "\ud800",
    ],
)
def test_other_ids_are_shown_as_a_digest(original: str) -> None:
    assert re.fullmatch(r"toolu_[0-9a-f]{32}", shown_id(original))
    assert given_id(shown_id(original)) == shown_id(original)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text(ALPHABET, min_size=1, max_size=80), st.text(ALPHABET, min_size=1, max_size=80))
@example("functions.a:1", "functions--a--1")
@example("a-.-b:1", "a.--b:1")
def test_what_clients_see_is_safe_and_unique(one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", shown_id(one), re.ASCII)
    assert (shown_id(one) == shown_id(other)) is (one == other)
    assert given_id(shown_id(one)) in (one, shown_id(one))
