"""Regular expressions match in linear time."""

from __future__ import annotations

import pytest

from moongate.kimi.guard.pattern import MAX_KEPT, MAX_STATES, MAX_TEXT, STATE_STEPS, pattern_of

UUID = "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"

# expression, texts in which it is found, texts in which it is not
FOUND: list[tuple[str, list[str], list[str]]] = [
    ("", ["", "a"], []),
    ("b", ["abc"], ["ac", ""]),
    ("^b", ["bc"], ["ab"]),
    ("b$", ["ab"], ["bc", "b\n"]),
    ("^$", [""], ["a"]),
    ("^(a|bc)$", ["a", "bc"], ["b", "abc"]),
    ("^(?:a|^b)c", ["ac", "bc"], ["xac"]),
    ("(^a|b)c", ["ac", "xbc"], ["xac"]),
    ("^a*$", ["", "aa"], ["ab"]),
    ("^a+b?$", ["a", "aab"], ["b", "abb"]),
    ("^a{2}$", ["aa"], ["a", "aaa"]),
    ("^a{1,3}$", ["a", "aaa"], ["", "aaaa"]),
    ("^(a{2,})+$", ["aa", "aaaaa"], ["a"]),
    ("^(a*)*$", ["", "aaa"], ["b"]),
    ("^(){99}a$", ["a"], ["b"]),
    (r"\bto\b", ["go to it", "to"], ["into", "tool"]),
    (r"o\Bo", ["oo"], ["o o"]),
    (".", ["a", "é"], ["", "\n"]),
    ("[^a-c]", ["d", "é"], ["abc"]),
    (UUID, ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567", "x123e4567-e89b-12d3-a456-426614174000"]),
]


def free(steps: int) -> None:
    """Takes any work."""


@pytest.mark.parametrize(("expression", "found", "others"), FOUND)
def test_found_or_not(expression: str, found: list[str], others: list[str]) -> None:
    pattern = pattern_of(expression)
    assert pattern is not None
    for text in found:
        assert pattern.is_found_in(text, free) is True, text
    for text in others:
        assert pattern.is_found_in(text, free) is False, text


@pytest.mark.parametrize("expression", ["(?=a)", "(a", "a{9999}", "((a{0,99}){0,99}){0,99}"])
def test_what_is_not_checked(expression: str) -> None:
    assert pattern_of(expression) is None


def test_what_engines_read_differently_is_not_checked() -> None:
    for expression, text in ((r"\w", "é"), (r"\d", "٣"), (r"\s", "\ufeff"), (r"\b", "é"), ("a", "a" * (MAX_TEXT + 1))):
        pattern = pattern_of(expression)
        assert pattern is not None
        assert pattern.is_found_in(text, free) is None
    digits, blanks = pattern_of(r"^\d+$"), pattern_of(r"^\S+$")
    assert digits is not None
    assert blanks is not None
    assert digits.is_found_in("é", free) is False
    assert blanks.is_found_in("é\u3000", free) is False


@pytest.mark.parametrize("expression", ["^(a+)+$", "^(a|a)*$", "(a+a+)+b", "(.*)*c", "^(a?){30}a{30}$"])
def test_the_work_is_linear(expression: str) -> None:
    pattern = pattern_of(expression)
    assert pattern is not None
    spent = []
    for size in (200, 400):
        steps: list[int] = []
        pattern.is_found_in("a" * size + "!", steps.append)
        spent.append(sum(steps))
        assert max(steps) <= MAX_STATES * STATE_STEPS
    assert spent[1] < 2.1 * spent[0]


def test_a_mismatch_at_the_beginning_is_the_end_of_the_work() -> None:
    pattern = pattern_of(UUID)
    assert pattern is not None
    steps: list[int] = []
    assert pattern.is_found_in("x" * 1000, steps.append) is False
    assert len(steps) < 3


def test_reading_is_work_too_but_only_once() -> None:
    """A few characters may stand for two thousand states, and a schema may hold thousands of expressions."""
    for expression in ("work|a{1900}", "work|a{9999}", "work" * 500):
        steps: list[int] = []
        pattern_of(expression, steps.append)
        spent = sum(steps)
        assert spent >= (900 if expression != "work|a{9999}" else 6)
        pattern_of(expression, steps.append)
        assert sum(steps) == spent


def test_few_expressions_are_kept() -> None:
    first: list[int] = []
    pattern_of("kept|first", first.append)
    for number in range(MAX_KEPT // 1900 + 1):
        pattern_of(f"kept|a{{1900}}{number}")
    again: list[int] = []
    pattern_of("kept|first", again.append)
    assert again == first
    too_large: list[int] = []
    for _ in range(2):
        pattern_of("x" * MAX_KEPT * 2, too_large.append)
    assert len(too_large) == 2


def test_to_look_for_what_engines_read_differently_is_work() -> None:
    work: list[int] = []
    pattern = pattern_of(r"\w\d\s")
    assert pattern is not None
    assert pattern.is_found_in("a" * (MAX_TEXT - 1) + "é", work.append) is None
    assert sum(work) >= MAX_TEXT // 16
