"""Sessions against vendors of known quality, in virtual time: what the routes of the gateway make of it.

The selector, scores, session table and circuit breaker are the gateway's own; vendors and clients are simulated. The
same seed gives the same run. `python -m bench.route_charts` draws it.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from moongate.gateway.config.limit_settings import Retries
from moongate.gateway.routing.circuit_breaker import CircuitBreaker
from moongate.gateway.routing.quality import Quality, TargetScore
from moongate.gateway.routing.route import RoutePolicy
from moongate.gateway.routing.selector import RouteSelector
from moongate.gateway.routing.session_table import SessionTable

MINUTE = 60.0
HOUR = 3600.0
SAMPLE = 5 * MINUTE


@dataclass
class SimulatedVendor:
    """A target of the route. `valid(now)`: the share of its answers that are good."""

    name: str
    valid: Callable[[float], float]
    typical_price: int | None = None
    per_minute: int = 0  # requests it takes, more get 429; 0: any number
    in_flight: int = 0
    score: TargetScore = field(default_factory=TargetScore)
    breaker: CircuitBreaker = field(default_factory=lambda: CircuitBreaker(Retries()))
    _minute: tuple[int, int] = (0, 0)  # and the requests in it

    @property
    def cool_down_until(self) -> float:
        return self.breaker.until

    def available(self, now: float) -> bool:
        return self.breaker.available(now)

    def takes(self, now: float) -> bool:
        """Does it take one more request, or is it full?"""
        minute, taken = int(now / MINUTE), self._minute[1]
        taken = taken + 1 if minute == self._minute[0] else 1
        self._minute = minute, taken
        return not self.per_minute or taken <= self.per_minute


@dataclass(frozen=True)
class Load:
    """Sessions that begin at random within `hours`, each with `turns` on average, `pause` seconds apart."""

    sessions: int = 10_000
    hours: float = 24.0
    turns: float = 12.0
    pause: float = 30.0


@dataclass(frozen=True, slots=True)
class Turn:
    when: float
    session: int
    number: int  # 0: the session is new
    target: int
    good: bool
    moved: bool
    reason: str


@dataclass
class SimulationRun:
    """Every turn in order, and when the ranking changed: (time, which targets are worse)."""

    names: tuple[str, ...]
    turns: list[Turn] = field(default_factory=list)
    ranks: list[tuple[float, tuple[bool, ...]]] = field(default_factory=list)
    scores: list[tuple[float, list[Quality]]] = field(default_factory=list)  # every five minutes

    def damaged(self, begin: float = 0.0, end: float = float("inf")) -> float:
        """The share of damaged answers."""
        chosen = [turn.good for turn in self.turns if begin <= turn.when < end]
        return 1 - sum(chosen) / max(1, len(chosen))

    def share(self, target: int, begin: float, end: float) -> float:
        """The share of new sessions that went to a target."""
        new = [turn.target for turn in self.turns if turn.number == 0 and begin <= turn.when < end]
        return new.count(target) / max(1, len(new))

    def moves(self) -> float:
        """Moves per session."""
        return sum(turn.moved for turn in self.turns) / max(1, sum(turn.number == 0 for turn in self.turns))

    def kept(self, begin: float, end: float) -> float:
        """The share of turns that were at the most frequent target of their session, of sessions within this time."""
        sessions: dict[int, list[Turn]] = {}
        for turn in self.turns:
            sessions.setdefault(turn.session, []).append(turn)
        within = [each for each in sessions.values() if begin <= each[0].when and each[-1].when < end]
        most = sum(Counter(turn.target for turn in each).most_common(1)[0][1] for each in within)
        return most / max(1, sum(map(len, within)))

    def changes(self, target: int, begin: float = 0.0) -> list[float]:
        """When a target fell behind or came back."""
        states = [(when, worse[target]) for when, worse in self.ranks]
        return [b[0] for a, b in itertools.pairwise(states) if a[1] != b[1] and b[0] >= begin]


def simulate(
    vendors: Sequence[SimulatedVendor],
    strategy: str,
    load: Load,
    seed: int = 1,
    weights: Sequence[float] = (),
    explore: float = 0.02,
) -> SimulationRun:
    draw = Random(seed)
    policy = RoutePolicy(tuple(range(len(vendors))), tuple(weights) or (1.0,) * len(vendors), strategy, explore=explore)
    selector = RouteSelector("kimi", policy, vendors, SessionTable(), draw.random)
    run = SimulationRun(tuple(vendor.name for vendor in vendors))
    due: list[tuple[float, int, int, int]] = []  # when, session, turn, turns of the session
    for _ in range(load.sessions):
        length = 1 + int(draw.expovariate(1 / (load.turns - 1))) if load.turns > 1 else 1
        due.append((draw.uniform(0, load.hours * HOUR), draw.getrandbits(64), 0, length))
    heapq.heapify(due)
    places: dict[int, int] = {}
    while due:
        now, session, number, length = heapq.heappop(due)
        turn = _turn(selector, vendors, draw, now, session, number, places.get(session))
        places[session] = turn.target
        run.turns.append(turn)
        state = tuple(selector.ranks.worse)
        if not run.scores or now >= run.scores[-1][0] + SAMPLE:
            run.scores.append((now - now % SAMPLE, selector.qualities(now)))
        if not run.ranks or run.ranks[-1][1] != state:
            run.ranks.append((now, state))
        if number + 1 < length:
            heapq.heappush(due, (now + draw.expovariate(1 / load.pause), session, number + 1, length))
    return run


def _turn(
    selector: RouteSelector,
    vendors: Sequence[SimulatedVendor],
    draw: Random,
    now: float,
    session: int,
    number: int,
    before: int | None,
) -> Turn:
    choice = selector.choose(session, now, streamed=True)
    answering, reason = choice.first, choice.reason
    if not _asked(vendors[answering], now):
        reason = "fallback"
        answering = next((index for index in choice.others(now) if _asked(vendors[index], now)), answering)
        choice.move(answering, now)
    good = draw.random() < vendors[answering].valid(now)
    vendors[answering].score.record("clean" if good else "damaged", now)
    return Turn(now, session, number, answering, good, before is not None and before != answering, reason)


def _asked(vendor: SimulatedVendor, now: float) -> bool:
    """Does the vendor answer?"""
    vendor.breaker.begin(now)
    if vendor.takes(now):
        vendor.breaker.succeeded(now)
        return True
    vendor.breaker.failed(now)
    return False


BREAKS, MENDS = 8 * HOUR, 9 * HOUR


def three_vendors(price: bool = False) -> list[SimulatedVendor]:
    """99, 95 and 75 %; the best one breaks for an hour. With prices the best one is the dearest."""
    return [
        SimulatedVendor("good (99 %)", lambda now: 0.2 if BREAKS <= now < MENDS else 0.99, 300 if price else None),
        SimulatedVendor("fair (95 %)", lambda _: 0.95, 200 if price else None),
        SimulatedVendor("poor (75 %)", lambda _: 0.75, 100 if price else None),
    ]


def large_and_small(per_minute: int = 0) -> list[SimulatedVendor]:
    """A large vendor at 95 %, and a small perfect one of which nothing is known at first."""
    return [
        SimulatedVendor("large (95 %)", lambda _: 0.95),
        SimulatedVendor("small (100 %)", lambda _: 1.0, per_minute=per_minute),
    ]
