"""How the strategies of a route rank its targets. Pure.

A strategy gives each target a tier; a request goes to the lowest tier, and among targets of one tier to the one that
rendezvous hashing chooses. The others follow in this order when the first one fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from moongate.prices.price import TokenPrices

# Tokens of a hundred in an agent's conversation, by which targets with four prices each are compared.
TYPICAL_INPUT: Final = 25
TYPICAL_CACHED: Final = 70
TYPICAL_OUTPUT: Final = 5
LATENCY_MARGIN: Final = 1.25  # targets at most so much slower than the fastest one count as equally fast

EXPLORING: Final = frozenset({"quality", "latency"})  # these learn only from targets that are asked now and then
CHANGING: Final = frozenset({"least-busy"})  # their ranking changes with every request

EQUAL: Final = "equal"  # the reason where a strategy finds all targets the same


class TargetSnapshot(NamedTuple):
    """One target of a route at one moment."""

    weight: float = 1.0
    price: int | None = None  # of typical tokens; None: unknown
    latency: float | None = None  # seconds; None: not measured
    in_flight: int = 0
    score: float = 1.0
    worse: bool = False  # than the best one, by its quality


class Ranking(NamedTuple):
    """The tier of each target, and what decided about the first one."""

    tiers: tuple[int, ...]
    reason: str


def typical_price(prices: TokenPrices | None) -> int | None:
    """What a hundred tokens cost; None if it is not known. Without a price for cache reads they count as input."""
    if prices is None or prices.input is None or prices.output is None:
        return None
    cached = prices.input if prices.cache_read is None else prices.cache_read
    return prices.input * TYPICAL_INPUT + cached * TYPICAL_CACHED + prices.output * TYPICAL_OUTPUT


def rank(strategy: str, snapshots: Sequence[TargetSnapshot]) -> Ranking:
    return _STRATEGIES[strategy](snapshots)


def _ordered(snapshots: Sequence[TargetSnapshot]) -> Ranking:
    return Ranking(tuple(range(len(snapshots))), "order")


def _weighted(snapshots: Sequence[TargetSnapshot]) -> Ranking:
    return Ranking((0,) * len(snapshots), "weight")


def _least_busy(snapshots: Sequence[TargetSnapshot]) -> Ranking:
    return _decided(_tiers([each.in_flight / each.weight for each in snapshots]), "in_flight")


def _by_latency(snapshots: Sequence[TargetSnapshot]) -> Ranking:
    return _decided(_tiers(_latencies(snapshots)), "latency")


def _by_cost(snapshots: Sequence[TargetSnapshot]) -> Ranking:
    return _decided(_tiers([(each.price is None, each.price or 0) for each in snapshots]), "price")


def _by_quality(snapshots: Sequence[TargetSnapshot]) -> Ranking:
    """The best and those as good as it by price, if all of these are known, else by latency; the others by score."""
    equal = [each for each in snapshots if not each.worse]
    priced = all(each.price is not None for each in equal) and len({each.price for each in equal}) > 1
    costs = [float(each.price or 0) for each in snapshots] if priced else _latencies(snapshots, equal)
    keys = [(each.worse, -each.score if each.worse else cost) for each, cost in zip(snapshots, costs, strict=True)]
    tiers = _tiers(keys)
    if len(equal) == 1:
        return Ranking(tiers, "quality")
    by_latency = "latency" if tiers.count(0) < len(equal) else EQUAL
    return Ranking(tiers, "price" if priced else by_latency)


def _decided(tiers: tuple[int, ...], reason: str) -> Ranking:
    """`reason` is what decided, unless it is the same for all: then the session's hash does."""
    return Ranking(tiers, EQUAL if len(tiers) > 1 and not any(tiers) else reason)


def _latencies(snapshots: Sequence[TargetSnapshot], among: Sequence[TargetSnapshot] | None = None) -> list[float]:
    """Seconds; those that are about as fast as the fastest one are equal to it, and so are those not measured yet."""
    known = [each.latency for each in (snapshots if among is None else among) if each.latency is not None]
    bound = min(known, default=0.0) * LATENCY_MARGIN
    return [0.0 if each.latency is None or each.latency <= bound else each.latency for each in snapshots]


def _tiers(keys: Sequence[object]) -> tuple[int, ...]:
    places = {key: place for place, key in enumerate(sorted(set(keys)))}  # type: ignore[type-var]
    return tuple(places[key] for key in keys)


_STRATEGIES: Final[Mapping[str, Callable[[Sequence[TargetSnapshot]], Ranking]]] = {
    "ordered": _ordered,
    "weighted": _weighted,
    "least-busy": _least_busy,
    "latency": _by_latency,
    "cost": _by_cost,
    "quality": _by_quality,
}
