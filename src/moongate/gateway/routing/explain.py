"""How a route would choose now: what is known of each target, and the share of new sessions that each one gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from moongate.gateway.routing.quality import Quality
from moongate.gateway.routing.route import Route, RoutePolicy
from moongate.gateway.routing.selector import RoutedTarget, RouteSelector
from moongate.gateway.routing.session_table import SessionTable
from moongate.gateway.routing.strategies import EXPLORING, Ranking
from moongate.payload import JsonObject
from moongate.prices.price import KINDS, TokenPrices

TYPICAL_TOKENS = 100


class PricedTarget(RoutedTarget, Protocol):
    @property
    def prices(self) -> TokenPrices | None: ...


def explain(
    route: Route, targets: Sequence[PricedTarget], selector: RouteSelector | None, now: float, *, streamed: bool = True
) -> JsonObject:
    """`selector`: of the route that is in use; None: its targets are asked in order."""
    if selector is None:
        policy = RoutePolicy(tuple(range(len(targets))), (1.0,) * len(targets), "ordered", sticky=False, explore=0.0)
        selector = RouteSelector(route.name, policy, targets, SessionTable())
    policy = selector.policy
    ranking = selector.ranking(now, streamed=streamed)
    shares = _shares(selector, ranking, now)
    rows = []
    for index, target in enumerate(targets):
        row: JsonObject = {"target": target.name, "weight": policy.weights[index], "share": round(shares[index], 4)}
        row |= {"rank": ranking.tiers[index] + 1, "health": _health(target, selector, index, now)}
        row |= _quality(target.score.quality(now))
        row |= {"latency": target.score.latency(streamed=streamed), "in_flight": target.in_flight}
        rows.append(row | _prices(target))
    most = max(shares.values())
    return {
        "object": "route",
        "name": route.name,
        "strategy": policy.strategy,
        "sticky": policy.sticky,
        "explore": policy.explore if policy.strategy in EXPLORING else 0.0,
        "chosen": [target.name for index, target in enumerate(targets) if shares[index] == most],
        "reason": ranking.reason,
        "targets": rows,
    }


def _shares(selector: RouteSelector, ranking: Ranking, now: float) -> dict[int, float]:
    """The share of new sessions by target. If all rest, the one that is ready first gets them."""
    policy, targets = selector.policy, selector.targets
    available = [index for index, target in enumerate(targets) if target.available(now)]
    if not available:
        first = min(range(len(targets)), key=lambda index: targets[index].cool_down_until)
        return {index: float(index == first) for index in range(len(targets))}
    best = min(ranking.tiers[index] for index in available)
    equal = [index for index in available if ranking.tiers[index] == best]
    behind = [index for index in available if ranking.tiers[index] > best]
    explored = policy.explore if behind and policy.strategy in EXPLORING else 0.0
    shares = dict.fromkeys(range(len(targets)), 0.0)
    for among, part in ((equal, 1 - explored), (behind, explored)):
        weight = sum(policy.weights[index] for index in among)
        for index in among:
            shares[index] = part * policy.weights[index] / weight
    return shares


def _health(target: RoutedTarget, selector: RouteSelector, index: int, now: float) -> str:
    if not target.available(now):
        return f"rests for {max(0.0, target.cool_down_until - now):.0f} s"
    if selector.ranks.broken[index]:
        return "broken down"
    return "worse" if selector.ranks.worse[index] else "ready"


def _quality(quality: Quality) -> JsonObject:
    return {
        "score": round(quality.score, 4),
        "low": round(quality.low, 4),
        "high": round(quality.high, 4),
        "raw": round(quality.raw, 4),
        "answers": round(quality.answers, 1),
    }


def _prices(target: PricedTarget) -> JsonObject:
    """Dollars per million tokens; `typical` is that of an agent's mixture of tokens. Null is unknown."""
    prices, typical = target.prices, target.typical_price
    found: JsonObject = {kind: _dollars(None if prices is None else getattr(prices, kind)) for kind in KINDS}
    return {"prices": found | {"typical": None if typical is None else _dollars(typical / TYPICAL_TOKENS)}}


def _dollars(price: float | None) -> float | None:
    return None if price is None else round(price / 1_000_000, 6)
