"""The leftmost, longest text is found wherever the text is cut."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.lexer import Lexer

CLEAN = Lexer({"<a>": "A", "<b>": "B", "</a>": "Z"})
RUNS = Lexer({"<a>": "A", "<b>": "B"}, merge_repeats=True)


def found(lexer: Lexer[str], data: str, pos: int = 0, final: bool = False) -> tuple[str, int, int] | None:
    match = lexer.find(data, pos, final)
    return None if match is None else (lexer.kind(match), match.start(), match.end())


def test_the_first_of_several_texts_is_found() -> None:
    assert found(CLEAN, "x <b> <a>") == ("B", 2, 5)
    assert found(CLEAN, "x <b> <a>", pos=3) == ("A", 6, 9)
    assert found(CLEAN, "x <c>") is None
    assert found(CLEAN, "no bracket") is None


def test_only_texts_with_the_lookahead_count() -> None:
    lexer = Lexer({"<a>": "A", "<b>": "B"}, lookahead="(?=x|<)")
    assert found(lexer, "<a> <b> <a>x") == ("A", 8, 11)
    assert found(lexer, "<a><b>") == ("A", 0, 3)
    assert found(lexer, "<a> <b>", final=True) is None


def test_repeats_of_one_kind_are_one_match() -> None:
    assert found(RUNS, "<a><a><b><b>") == ("A", 0, 6)
    assert found(RUNS, "<a><a><b><b>", pos=6) == ("B", 6, 12)


def test_overlapping_texts_are_never_merged() -> None:
    assert found(Lexer({"[a[": "A", "x": "X"}, merge_repeats=True), "[a[[a[", final=True) == ("A", 0, 3)


@pytest.mark.parametrize(
    ("data", "held"),
    [("x<", 1), ("x</", 1), ("x<a", 1), ("x<a ", 4), ("<<", 1), ("x<a>", 4), ("", 0), ("<c", 2), ("long text <", 10)],
)
def test_only_a_partial_text_is_held_back(data: str, held: int) -> None:
    assert CLEAN.partial_start(data, 0) == held


def test_what_was_read_is_not_held_back() -> None:
    assert CLEAN.partial_start("<<", 2) == 2


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


def test_a_match_far_from_the_end_is_final() -> None:
    assert found(Lexer({"A": "short", "AB": "long"}), "A and so on") == ("short", 0, 1)
