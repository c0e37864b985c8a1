"""Costs in integers, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moongate.prices.price import TokenPrices, per_million, shown, token_prices
from moongate.prices.tokens import TokenCounts

COUNT = st.integers(0, 2_000_000)
DOLLARS = st.integers(0, 100_000).map(lambda cents: cents / 100)


@given(counts=st.tuples(COUNT, COUNT, COUNT, COUNT), dollars=st.tuples(DOLLARS, DOLLARS, DOLLARS, DOLLARS))
def test_a_cost_is_the_exact_one_rounded_once(
    counts: tuple[int, int, int, int], dollars: tuple[float, float, float, float]
) -> None:
    read, cached, stored, written = (per_million(each) for each in dollars)
    cost = TokenPrices(read, written, cached, stored).cost(TokenCounts(*counts))
    exact = sum(Fraction(round(price * 100), 100) * count for price, count in zip(dollars, counts, strict=True))
    assert cost is not None
    assert abs(Fraction(cost) - exact) <= Fraction(1, 2)


def test_reasoning_is_a_part_of_the_output() -> None:
    prices = TokenPrices(per_million(1.0), per_million(2.0))
    assert prices.cost(TokenCounts(output=10, reasoning=8)) == 20


@pytest.mark.parametrize("counts", [TokenCounts(cache_read=1), TokenCounts(cache_write=1)])
def test_what_is_not_known_is_not_zero(counts: TokenCounts) -> None:
    prices = TokenPrices(per_million(1.0), per_million(2.0))
    assert prices.cost(counts) is None
    assert prices.cost(TokenCounts(input=5)) == 5
    assert TokenPrices(None, None).cost(TokenCounts(input=1)) is None
    assert TokenPrices(None, None).cost(TokenCounts(output=1)) is None
    assert TokenPrices(None, None).cost(TokenCounts()) == 0


def test_the_charge_counts_the_cache_as_fresh_where_its_price_is_unknown() -> None:
    counts = TokenCounts(1, 20, 300, 4000)
    assert TokenPrices(1_000_000, 2_000_000).charge(counts) == 321 + 8000
    assert TokenPrices(1_000_000, 2_000_000, 100_000).charge(counts) == 301 + 2 + 8000
    assert TokenPrices(1_000_000, 2_000_000, 100_000, 2_000_000).charge(counts) == 1 + 2 + 600 + 8000
    assert TokenPrices(1_000_000, None).charge(counts) is None
    assert TokenPrices(None, 1).charge(TokenCounts(cache_read=1)) is None


def test_prices_are_known_if_no_answer_can_be_without_a_charge() -> None:
    assert TokenPrices(0, 0).are_known
    assert not TokenPrices(None, 1).are_known
    assert not TokenPrices(1, None).are_known


def test_the_upper_bound_takes_the_dearest_kind_of_prompt() -> None:
    assert TokenPrices(1_000_000, 2_000_000).upper_bound(10, 5) == 20
    assert TokenPrices(1_000_000, 2_000_000, 0, 3_000_000).upper_bound(10, 5) == 40
    assert TokenPrices(1, 0).upper_bound(1, 1) == 1  # rounded up
    assert TokenPrices(None, 1).upper_bound(1, 1) is None
    assert TokenPrices(1, None).upper_bound(1, 1) is None


def test_prices_of_a_configuration() -> None:
    assert token_prices({"input": 0.6, "output": 3}) == TokenPrices(600_000, 3_000_000)
    assert token_prices({"input": 0.6, "output": 3, "cache_read": None}).cache_read is None
    assert token_prices({"cache_read": 0, "cache_write": 1.25}) == TokenPrices(None, None, 0, 1_250_000)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"inputs": 1}, "'inputs' is no kind of token"),
        ({"input": "1"}, "'input' must be a number"),
        ({"input": True}, "'input' must be a number"),
        ({"output": -1}, "'output' must be between 0"),
        ({"output": float("nan")}, "'output' must be between 0"),
    ],
)
def test_prices_that_are_refused(values: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        token_prices(values)


@pytest.mark.parametrize(
    ("price", "text"), [(None, "?"), (600_000, "0.60"), (15_000_000, "15.00"), (0, "0.00"), (1_234, "0.001234")]
)
def test_prices_are_shown_per_million(price: int | None, text: str) -> None:
    assert shown(price) == text
