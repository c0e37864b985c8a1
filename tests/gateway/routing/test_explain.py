from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.gateway.routing.test_selector import Vendor

from moongate.gateway.routing.explain import explain
from moongate.gateway.routing.route import Route, RoutePolicy
from moongate.gateway.routing.selector import RouteSelector
from moongate.gateway.routing.session_table import SessionTable
from moongate.payload import JsonObject
from moongate.prices.price import TokenPrices


@dataclass
class PricedVendor(Vendor):
    prices: TokenPrices | None = None


def explained(strategy: str, *vendors: PricedVendor, explore: float = 0.1) -> JsonObject:
    policy = RoutePolicy(tuple(range(len(vendors))), (3.0, 1.0, 1.0)[: len(vendors)], strategy, explore=explore)
    selector = RouteSelector("kimi", policy, vendors, SessionTable())
    return explain(Route(0, "", "kimi", policy=policy), vendors, selector, 0.0)


def test_shares_of_equal_targets_are_their_weights() -> None:
    found = explained("weighted", PricedVendor("a,x"), PricedVendor("b,x"))
    assert [row["share"] for row in found["targets"]] == [0.75, 0.25]
    assert (found["chosen"], found["reason"], found["explore"], found["sticky"]) == (["a,x"], "weight", 0.0, True)


def test_targets_that_share_sessions_evenly_are_all_chosen() -> None:
    names = [f"{letter},x" for letter in "abcdef"]
    policy = RoutePolicy(tuple(range(6)), (1.0,) * 6, "quality")
    vendors = [PricedVendor(name) for name in names]
    selector = RouteSelector("kimi", policy, vendors, SessionTable())
    found = explain(Route(0, "", "kimi", policy=policy), vendors, selector, 0.0)
    assert found["chosen"] == names  # a sixth is no round number
    assert [row["share"] for row in found["targets"]] == [0.1667] * 6


def test_a_worse_target_gets_what_explores() -> None:
    good, bad = PricedVendor("a,x"), PricedVendor("b,x")
    good.answers("clean", times=300)
    bad.answers("damaged", "clean", "clean", times=100)
    found = explained("quality", good, bad)
    assert [(row["share"], row["rank"], row["health"]) for row in found["targets"]] == [
        (0.9, 1, "ready"),
        (0.1, 2, "worse"),
    ]
    bad.answers("damaged", times=20)
    assert explained("quality", good, bad)["targets"][1]["health"] == "broken down"
    assert found["chosen"] == ["a,x"]
    assert found["targets"][0]["score"] > 0.98
    assert found["targets"][1]["low"] < found["targets"][1]["score"] < found["targets"][1]["high"]


def test_a_target_that_rests_gets_nothing_and_if_all_rest_the_first_that_is_ready() -> None:
    first, second = PricedVendor("a,x", cool_down_until=9), PricedVendor("b,x")
    found = explained("ordered", first, second)
    assert [(row["share"], row["health"]) for row in found["targets"]] == [(0.0, "rests for 9 s"), (1.0, "ready")]
    second.cool_down_until = 30
    assert [row["share"] for row in explained("ordered", first, second)["targets"]] == [1.0, 0.0]


def test_a_model_with_fallbacks_is_explained_in_order() -> None:
    vendors = [PricedVendor("a,x"), PricedVendor("b,x")]
    found = explain(Route(0, "a", "x", (1,)), vendors, None, 0.0)
    assert (found["name"], found["strategy"], found["sticky"], found["chosen"]) == ("a,x", "ordered", False, ["a,x"])


def test_prices_are_in_dollars_per_million_and_unknown_is_null() -> None:
    known = PricedVendor("a,x", typical_price=42_000_000, prices=TokenPrices(1_000_000, 2_000_000, 100_000))
    found = explained("cost", known, PricedVendor("b,x"))
    assert found["targets"][0]["prices"] == {
        "input": 1.0,
        "cache_read": 0.1,
        "cache_write": None,
        "output": 2.0,
        "typical": pytest.approx(0.42),
    }
    assert set(found["targets"][1]["prices"].values()) == {None}
