"""Counts of tokens, out of what providers send as usage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moongate.prices.tokens import ANSWER_TOKENS, MAX_TOKENS, TokenCounts, answer_limit, counts_of, estimated_prompt

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from(["cached_tokens", "reasoning_tokens", "x"]), inner, max_size=3),
    max_leaves=6,
)


def usage(prompt: Any = 100, output: Any = 50, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": output, **more}


@pytest.mark.parametrize(
    ("given_usage", "expected"),
    [
        (usage(), TokenCounts(100, 0, 0, 50, 0)),
        (usage(prompt_tokens_details={"cached_tokens": 30}), TokenCounts(70, 30, 0, 50, 0)),
        (usage(cached_tokens=30), TokenCounts(70, 30, 0, 50, 0)),
        (usage(prompt_tokens_details={"cached_tokens": 30, "cache_write_tokens": 20}), TokenCounts(50, 30, 20, 50, 0)),
        (usage(cache_creation_input_tokens=20), TokenCounts(80, 0, 20, 50, 0)),
        (usage(cache_write_tokens=20), TokenCounts(80, 0, 20, 50, 0)),
        (usage(completion_tokens_details={"reasoning_tokens": 40}), TokenCounts(100, 0, 0, 50, 40)),
        (usage(completion_tokens_details={"reasoning_tokens": 400}), TokenCounts(100, 0, 0, 50, 50)),
        (usage(cached_tokens=300), TokenCounts(0, 100, 0, 50, 0)),
        (usage(cached_tokens=True), TokenCounts(100, 0, 0, 50, 0)),
        (usage(prompt_tokens_details=7), TokenCounts(100, 0, 0, 50, 0)),
        (usage("100"), None),
        (usage(-1), None),
        (usage(MAX_TOKENS + 1), None),
        (usage(output=None), None),
        ({}, None),
        (None, None),
    ],
)
def test_counts(given_usage: dict[str, Any] | None, expected: TokenCounts | None) -> None:
    assert counts_of(given_usage) == expected


@given(
    st.dictionaries(
        st.sampled_from(["prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens"]),
        JSON_VALUES | st.integers(0, 1000),
    )
)
def test_nothing_is_negative_and_the_prompt_adds_up(given_usage: dict[str, Any]) -> None:
    counts = counts_of(given_usage)
    if counts is not None:
        assert min(counts) >= 0
        assert counts.input + counts.cache_read + counts.cache_write == given_usage["prompt_tokens"]
        assert counts.total == given_usage["prompt_tokens"] + given_usage["completion_tokens"]


def test_a_prompt_is_estimated_by_its_bytes() -> None:
    assert estimated_prompt(0) == 1
    assert estimated_prompt(3500) == 1001


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, ANSWER_TOKENS),
        ({"max_tokens": 10}, 10),
        ({"max_tokens": 10, "max_completion_tokens": 20}, 20),
        ({"max_tokens": 10, "n": 3}, 30),
        ({"max_tokens": "many", "n": "x"}, ANSWER_TOKENS),
        ({"max_tokens": MAX_TOKENS, "n": 9}, MAX_TOKENS),
    ],
)
def test_the_limit_of_an_answer(request_: dict[str, Any], expected: int) -> None:
    assert answer_limit(request_) == expected


def test_further_tokens_are_added() -> None:
    assert TokenCounts(1, 2, 3, 4, 1).plus(10, 20) == TokenCounts(11, 2, 3, 24, 1)
