"""The leftmost, longest text is found wherever the text is cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moongate.kimi.lexer import Lexer

CLEAN = Lexer({"<a>": "A", "<b>": "B", "</a>": "Z"})
RUNS = Lexer({"<a>": "A", "<b>": "B"}, runs=True)


def found(lexer: Lexer[str], data: str, pos: int = 0, final: bool = False) -> tuple[str, int, int] | None:
    match = lexer.find(data, pos, final)
    return None if match is None else (lexer.kind(match), match.start(), match.end())


def test_the_first_of_several_texts_is_found() -> None:
    assert found(CLEAN, "x <b> <a>") == ("B", 2, 5)
    assert found(CLEAN, "x <b> <a>", pos=3) == ("A", 6, 9)
    assert found(CLEAN, "x <c>") is None
    assert found(CLEAN, "no bracket") is None


def test_only_texts_with_the_right_thing_behind_them_count() -> None:
    lexer = Lexer({"<a>": "A", "<b>": "B"}, only="(?=x|<)")
    assert found(lexer, "<a> <b> <a>x") == ("A", 8, 11)
    assert found(lexer, "<a><b>") == ("A", 0, 3)
    assert found(lexer, "<a> <b>", final=True) is None


def test_neighbours_of_one_kind_come_as_one_match() -> None:
    assert found(RUNS, "<a><a><b><b>") == ("A", 0, 6)
    assert found(RUNS, "<a><a><b><b>", pos=6) == ("B", 6, 12)


def test_texts_that_overlap_never_come_as_a_run() -> None:
    assert found(Lexer({"[a[": "A", "x": "X"}, runs=True), "[a[[a[", final=True) == ("A", 0, 3)


@pytest.mark.parametrize(
    ("data", "held"),
    [("x<", 1), ("x</", 1), ("x<a", 1), ("x<a ", 4), ("<<", 1), ("x<a>", 4), ("", 0), ("<c", 2), ("long text <", 10)],
)
def test_only_what_may_become_a_text_is_held(data: str, held: int) -> None:
    assert CLEAN.held(data, 0) == held


def test_what_was_read_is_not_held() -> None:
    assert CLEAN.held("<<", 2) == 2


def test_the_longer_text_wins_if_it_comes() -> None:
    lexer = Lexer({"A": "short", "AB": "long"})
    assert found(lexer, "xA") is None, "AB may still come"
    assert found(lexer, "xA", final=True) == ("short", 1, 2)
    assert found(lexer, "xAB") == ("long", 1, 3)
    assert found(lexer, "xAC") == ("short", 1, 2)


def test_an_earlier_text_that_may_still_come_wins() -> None:
    lexer = Lexer({"ABCX": "outer", "BC": "inner"})
    assert found(lexer, "ABC") is None
    assert found(lexer, "ABCX") == ("outer", 0, 4)
    assert found(lexer, "ABCD") == ("inner", 1, 3)
    assert found(lexer, "ABC", final=True) == ("inner", 1, 3)


def test_a_match_far_from_the_end_is_sure() -> None:
    assert found(Lexer({"A": "short", "AB": "long"}), "A and so on") == ("short", 0, 1)


def whole(texts: list[str], data: str) -> list[str]:
    return re.findall("|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)), data)


def piecewise(lexer: Lexer[str], pieces: list[str]) -> list[str]:
    kinds, pending = [], ""
    for number, piece in enumerate([*pieces, ""]):
        data, pos, final = pending + piece, 0, number == len(pieces)
        while (match := lexer.find(data, pos, final)) is not None:
            kinds.append(lexer.kind(match))
            pos = match.end()
        pending = data[lexer.held(data, pos) :]
    return kinds


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(st.text("ab<", min_size=1, max_size=4), min_size=1, max_size=4, unique=True),
    st.lists(st.text("ab<", max_size=5), max_size=8),
)
def test_any_cut_finds_the_same(texts: list[str], pieces: list[str]) -> None:
    lexer = Lexer({text: text for text in texts})
    assert piecewise(lexer, pieces) == whole(texts, "".join(pieces))
