from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moongate.dialects.messages.ids import given_id, shown_id

ALPHABET = "axc3-_.:09é"


@pytest.mark.parametrize(
    ("original", "shown"),
    [
        ("functions.Bash:0", "functions--Bash--0"),
        ("functions.mcp__git__log:12", "functions--mcp__git__log--12"),
        ("functions.a--1:2", "functions--a--1--2"),
        ("functions.-x:1", "functions---x--1"),
        ("call_1", "call_1"),
        ("toolu_01A", "toolu_01A"),
        ("Bash_3", "Bash_3"),
        ("Bash:0", "x--Bash-3a0"),
        ("functions.a.b:1", "x--functions-2ea-2eb-3a1"),
        ("functions--a--1", "x--functions-2d-2da-2d-2d1"),
        ("a-.b:1", "x--a-2d-2eb-3a1"),
        ("x--a", "x--x-2d-2da"),
        ("é", "x---c3-a9"),
        ("\ud800", "x---ed-a0-80"),
        ("", "x--"),
    ],
)
def test_ids_that_come_back_as_they_were(original: str, shown: str) -> None:
    assert shown_id(original) == shown
    assert given_id(shown) == original


@pytest.mark.parametrize("original", ["x" * 65, f"functions.{'x' * 60}:1", "é" * 30, "x--" + "y" * 60])
def test_ids_that_are_too_long_are_shown_as_a_digest(original: str) -> None:
    assert re.fullmatch(r"toolu_[0-9a-f]{32}", shown_id(original))
    assert given_id(shown_id(original)) == shown_id(original)


@pytest.mark.parametrize(
    "shown",
    [
        "x--\ud800",
        "x--a-b",
        "x---ff",
        "x---61",
        "x--A-3A",
        "a--b--c",
        "functions--a--1234567890",
        "x--" + "a" * 99,
        "-" * 100_000,
    ],
)
def test_what_we_did_not_write_stays_as_it_is(shown: str) -> None:
    assert given_id(shown) == shown


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text(ALPHABET, min_size=1, max_size=80), st.text(ALPHABET, min_size=1, max_size=80))
@example("functions.a:1", "functions--a--1")
@example("a-.-b:1", "a.--b:1")
def test_what_clients_see_is_safe_and_unique(one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", shown_id(one), re.ASCII)
    assert (shown_id(one) == shown_id(other)) is (one == other)
    assert given_id(shown_id(one)) in (one, shown_id(one))
