from __future__ import annotations

import pytest

from moongate.gateway.config.route_settings import STRATEGY_OF
from moongate.gateway.routing.strategies import LATENCY_MARGIN, Standing, rank, typical_price
from moongate.prices.price import TokenPrices


def test_the_words_of_other_gateways_are_known() -> None:
    assert {word: STRATEGY_OF[word] for word in STRATEGY_OF if STRATEGY_OF[word] != word} == {
        "simple-shuffle": "weighted",
        "loadbalance": "weighted",
        "latency-based-routing": "latency",
        "cost-based-routing": "cost",
    }


def test_in_order() -> None:
    assert rank("ordered", [Standing(), Standing()]) == ((0, 1), "order")


def test_all_are_equal_by_weight() -> None:
    assert rank("weighted", [Standing(weight=3), Standing()]) == ((0, 0), "weight")


def test_least_busy_counts_requests_per_weight() -> None:
    standings = [Standing(weight=2, in_flight=3), Standing(in_flight=2), Standing(weight=4, in_flight=6)]
    assert rank("least-busy", standings) == ((0, 1, 0), "in_flight")


def test_by_latency_those_about_as_fast_are_equal_and_unknown_ones_are_tried() -> None:
    standings = [Standing(latency=1.0), Standing(latency=LATENCY_MARGIN), Standing(latency=2.0), Standing()]
    assert rank("latency", standings) == ((0, 0, 1, 0), "latency")
    assert rank("latency", [Standing(), Standing()]) == ((0, 0), "latency")


def test_by_cost_an_unknown_price_is_last_not_free() -> None:
    standings = [Standing(price=5), Standing(), Standing(price=0), Standing(price=5)]
    assert rank("cost", standings) == ((1, 2, 0, 1), "price")


def test_by_quality_equals_are_chosen_by_price_and_worse_ones_are_last_by_score() -> None:
    standings = [
        Standing(price=5, score=0.98),
        Standing(price=3, score=0.95),
        Standing(price=1, score=0.80, worse=True),
        Standing(price=1, score=0.85, worse=True),
    ]
    assert rank("quality", standings) == ((1, 0, 3, 2), "price")


def test_by_quality_equals_without_prices_are_chosen_by_latency() -> None:
    standings = [Standing(price=5, latency=1.0), Standing(latency=2.0), Standing(latency=0.1, worse=True)]
    assert rank("quality", standings) == ((0, 1, 2), "latency")
    assert rank("quality", [Standing(latency=1.0), Standing(latency=1.1)]) == ((0, 0), "equal")
    assert rank("quality", [Standing(price=5, latency=9.0), Standing(price=5, latency=1.0)]) == ((1, 0), "latency")


def test_by_quality_one_that_is_better_than_all_others_is_chosen_for_it() -> None:
    assert rank("quality", [Standing(worse=True, price=1), Standing(price=9)]) == ((1, 0), "quality")


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        (None, None),
        (TokenPrices(None, 3), None),
        (TokenPrices(3, None), None),
        (TokenPrices(1_000_000, 2_000_000, 100_000), 25_000_000 + 7_000_000 + 10_000_000),
        (TokenPrices(1_000_000, 2_000_000), 25_000_000 + 70_000_000 + 10_000_000),
    ],
)
def test_targets_are_compared_by_the_price_of_typical_tokens(prices: TokenPrices | None, expected: int | None) -> None:
    assert typical_price(prices) == expected
