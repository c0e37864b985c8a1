from __future__ import annotations

import pytest

from moongate.gateway.config.route_settings import STRATEGY_OF
from moongate.gateway.routing.strategies import LATENCY_MARGIN, TargetSnapshot, rank, typical_price
from moongate.prices.price import TokenPrices


def test_the_words_of_other_gateways_are_known() -> None:
    assert {word: STRATEGY_OF[word] for word in STRATEGY_OF if STRATEGY_OF[word] != word} == {
        "simple-shuffle": "weighted",
        "loadbalance": "weighted",
        "latency-based-routing": "latency",
        "cost-based-routing": "cost",
    }


def test_in_order() -> None:
    assert rank("ordered", [TargetSnapshot(), TargetSnapshot()]) == ((0, 1), "order")


def test_all_are_equal_by_weight() -> None:
    assert rank("weighted", [TargetSnapshot(weight=3), TargetSnapshot()]) == ((0, 0), "weight")


def test_least_busy_counts_requests_per_weight() -> None:
    snapshots = [
        TargetSnapshot(weight=2, in_flight=3),
        TargetSnapshot(in_flight=2),
        TargetSnapshot(weight=4, in_flight=6),
    ]
    assert rank("least-busy", snapshots) == ((0, 1, 0), "in_flight")


def test_by_latency_those_about_as_fast_are_equal_and_unknown_ones_are_tried() -> None:
    snapshots = [
        TargetSnapshot(latency=1.0),
        TargetSnapshot(latency=LATENCY_MARGIN),
        TargetSnapshot(latency=2.0),
        TargetSnapshot(),
    ]
    assert rank("latency", snapshots) == ((0, 0, 1, 0), "latency")
    assert rank("latency", [TargetSnapshot(), TargetSnapshot()]) == ((0, 0), "equal")


def test_by_cost_an_unknown_price_is_last_not_free() -> None:
    snapshots = [TargetSnapshot(price=5), TargetSnapshot(), TargetSnapshot(price=0), TargetSnapshot(price=5)]
    assert rank("cost", snapshots) == ((1, 2, 0, 1), "price")


@pytest.mark.parametrize("strategy", ["least-busy", "latency", "cost"])
def test_what_is_the_same_for_all_decides_nothing(strategy: str) -> None:
    assert rank(strategy, [TargetSnapshot(), TargetSnapshot()]) == ((0, 0), "equal")
    alone = {"least-busy": "in_flight", "latency": "latency", "cost": "price"}
    assert rank(strategy, [TargetSnapshot()]) == ((0,), alone[strategy])


def test_by_quality_equals_are_chosen_by_price_and_worse_ones_are_last_by_score() -> None:
    snapshots = [
        TargetSnapshot(price=5, score=0.98),
        TargetSnapshot(price=3, score=0.95),
        TargetSnapshot(price=1, score=0.80, worse=True),
        TargetSnapshot(price=1, score=0.85, worse=True),
    ]
    assert rank("quality", snapshots) == ((1, 0, 3, 2), "price")


def test_by_quality_equals_without_prices_are_chosen_by_latency() -> None:
    snapshots = [
        TargetSnapshot(price=5, latency=1.0),
        TargetSnapshot(latency=2.0),
        TargetSnapshot(latency=0.1, worse=True),
    ]
    assert rank("quality", snapshots) == ((0, 1, 2), "latency")
    assert rank("quality", [TargetSnapshot(latency=1.0), TargetSnapshot(latency=1.1)]) == ((0, 0), "equal")
    assert rank("quality", [TargetSnapshot(price=5, latency=9.0), TargetSnapshot(price=5, latency=1.0)]) == (
        (1, 0),
        "latency",
    )


def test_by_quality_one_that_is_better_than_all_others_is_chosen_for_it() -> None:
    assert rank("quality", [TargetSnapshot(worse=True, price=1), TargetSnapshot(price=9)]) == ((1, 0), "quality")


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
