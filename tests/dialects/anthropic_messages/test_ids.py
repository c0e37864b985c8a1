from __future__ import annotations

import re

import pytest

from moongate.dialects.anthropic_messages.ids import client_call_id, provider_call_id


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
def test_ids_that_can_be_decoded(original: str, shown: str) -> None:
    assert client_call_id(original) == shown
    assert provider_call_id(shown) == original


@pytest.mark.parametrize("original", ["x" * 65, f"functions.{'x' * 60}:1", "é" * 30, "x--" + "y" * 60])
def test_ids_that_are_too_long_become_a_digest(original: str) -> None:
    assert re.fullmatch(r"toolu_[0-9a-f]{32}", client_call_id(original))
    assert provider_call_id(client_call_id(original)) == client_call_id(original)


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
def test_ids_of_other_origin_are_unchanged(shown: str) -> None:
    assert provider_call_id(shown) == shown
