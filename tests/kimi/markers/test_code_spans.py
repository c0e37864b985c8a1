"""Runs of backticks."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.code_spans import MAX_RUNS, CodeSpans


def spans_of(*texts: str) -> tuple[CodeSpans, list[bool]]:
    spans = CodeSpans()
    return spans, [spans.feed(text) for text in texts]


def test_a_run_opens_and_one_of_the_same_length_closes() -> None:
    spans, closed = spans_of("a ``b ` c", "d `` e")
    assert closed == [False, True]
    assert (spans.open, spans.inner, spans.pending) == (0, [], False)
    spans, closed = spans_of("`a` ``b", "c")
    assert closed == [False, False]
    assert spans.open == 2


def test_a_run_may_come_in_pieces() -> None:
    spans, closed = spans_of("`", "``", "a", "``", "`", "b")
    assert closed == [False, False, False, False, False, True]
    assert spans.open == 0


def test_a_run_ends_where_something_else_follows() -> None:
    spans, _ = spans_of("`a`")
    assert (spans.open, spans.pending) == (1, True)
    assert spans.end_run()
    assert not spans.end_run()
    assert (spans.open, spans.pending) == (0, False)


def test_runs_behind_a_run_that_opened_nothing_are_read_again() -> None:
    spans, _ = spans_of("```a``b`c`d``e`f")
    assert (spans.open, spans.inner) == (3, [2, 1, 1, 2, 1])
    spans.give_up(4)
    assert (spans.open, spans.inner) == (0, [])
    spans, _ = spans_of("```a``b`c")
    spans.give_up(2)
    assert (spans.open, spans.inner) == (2, [1])


def test_going_back() -> None:
    spans, _ = spans_of("```a``b`")
    state = spans.state
    spans.give_up(1)
    spans.feed("c``")
    spans.state = state
    assert (spans.open, spans.inner, spans.pending) == (3, [2], True)


def test_not_all_runs_are_remembered() -> None:
    spans, _ = spans_of("``" + "a`" * (MAX_RUNS + 5) + "a")
    assert len(spans.inner) == MAX_RUNS


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_cut_does_not_matter(size: int) -> None:
    text = "`a``b```c``d`e````f`g"
    spans, _ = spans_of(*(text[at : at + size] for at in range(0, len(text), size)))
    whole, _ = spans_of(text)
    assert (spans.open, spans.inner) == (whole.open, whole.inner)
