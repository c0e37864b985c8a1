"""Chooses the target of each request of a route: the session's own one, else the best by the route's strategy.

Clocks are passed in, and so are the targets' scores, health and prices: a simulation runs it in virtual time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import random
from typing import Final, Protocol

from moongate.gateway.routing.quality import Quality, QualityRanks, TargetScore
from moongate.gateway.routing.rendezvous import hash_key, scores, uniform
from moongate.gateway.routing.route import RoutePolicy
from moongate.gateway.routing.session_table import SessionTable, target_mark
from moongate.gateway.routing.strategies import CHANGING, EXPLORING, Ranking, TargetSnapshot, rank

RANK_SECONDS: Final = 1.0  # how long a ranking is used before it is made again
_EXPLORES: Final = hash_key("explore")
STICKY: Final = "sticky"
EXPLORE: Final = "explore"
RESTING: Final = "all resting"


class RoutedTarget(Protocol):
    """What the choice needs to know of a target."""

    @property
    def name(self) -> str: ...

    @property
    def score(self) -> TargetScore: ...

    @property
    def typical_price(self) -> int | None: ...

    @property
    def in_flight(self) -> int: ...

    @property
    def cool_down_until(self) -> float: ...

    def available(self, now: float) -> bool: ...


class RouteReport:
    """One choice: as a header, as members of a JSON line, as text of a readable line, and the slot that counts it."""

    __slots__ = ("header", "json", "slot", "text")

    def __init__(self, header: tuple[bytes, bytes], json: bytes, text: str, slot: int) -> None:
        self.header = header
        self.json = json
        self.text = text
        self.slot = slot


class SelectedTarget:
    """The target of one request, and why. The others are put in order only if this one fails."""

    __slots__ = ("_selector", "first", "reason", "report", "session")

    def __init__(self, selector: RouteSelector, session: int, first: int, reason: str) -> None:
        self._selector = selector
        self.session = session
        self.first = first
        self.reason = reason
        self.report: RouteReport | None = None  # since a target was asked

    @property
    def by_quality(self) -> bool:
        return self._selector.by_quality

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """What the answer says of the choice."""
        return [] if self.report is None else [self.report.header]

    def others(self, now: float) -> list[int]:
        """The other targets that may be asked now, best first."""
        return self._selector.others(self, now)

    def move(self, index: int, now: float) -> None:
        """Another target is asked: from now on the session is there."""
        self._selector.move(self.session, index, now)


class RouteSelector:
    """The targets of one route under one strategy, as one worker sees them."""

    def __init__(
        self,
        name: str,
        policy: RoutePolicy,
        targets: Sequence[RoutedTarget],
        sessions: SessionTable,
        draw: Callable[[], float] = random,
    ) -> None:
        self.name = name
        self.policy = policy
        self.targets = tuple(targets)
        self.ranks = QualityRanks(len(targets))
        self.by_quality = policy.strategy == "quality"
        self._draw = draw  # for sessions that do not stick
        self._sessions = sessions
        self._keys = [hash_key(each.name) for each in targets]
        # A session is one per route.
        self._salt = int.from_bytes(hash_key(f"{name}:{policy.strategy}")[:8], "big") >> 2
        self._marks: list[int] = []
        for each in targets:
            self._marks.append(target_mark(each.name.encode("utf-8", "surrogatepass"), set(self._marks)))
        self._index_by_mark = {mark: index for index, mark in enumerate(self._marks)}
        self._rankings: dict[bool, tuple[float, Ranking]] = {}  # by whether the answer is streamed: until when, what

    def choose(self, session: int, now: float, *, streamed: bool) -> SelectedTarget:
        """`session`: 62 bits that all turns of a session share."""
        session ^= self._salt
        if not self.policy.sticky:
            return self._chosen(session, now, streamed)
        index = self._index_by_mark.get(self._sessions.get(session, now))
        if index is not None and self.targets[index].available(now):
            if self.by_quality:
                self.ranking(now, streamed=streamed)  # notices that a target has broken down
            if not self.ranks.broken[index]:
                return SelectedTarget(self, session, index, STICKY)
        selected = self._chosen(session, now, streamed)
        self._sessions.put(session, self._marks[selected.first], now)
        return selected

    def move(self, session: int, index: int, now: float) -> None:
        """The session is at another target now."""
        if self.policy.sticky:
            self._sessions.put(session, self._marks[index], now)

    def others(self, selected: SelectedTarget, now: float) -> list[int]:
        ranking = self.ranking(now, streamed=True)
        order = self._order(selected.session, ranking, self._available(now))
        return [index for index in order if index != selected.first]

    def qualities(self, now: float) -> list[Quality]:
        return [each.score.quality(now) for each in self.targets]

    def ranking(self, now: float, *, streamed: bool) -> Ranking:
        """The tiers of the targets now."""
        known = self._rankings.get(streamed)
        if known is not None and now < known[0]:
            return known[1]
        strategy = self.policy.strategy
        if self.by_quality:
            self.ranks.update(self.qualities(now))
        found = rank(strategy, self.snapshots(now, streamed=streamed))
        self._rankings[streamed] = now if strategy in CHANGING else now + RANK_SECONDS, found
        return found

    def snapshots(self, now: float, *, streamed: bool) -> list[TargetSnapshot]:
        """What the ranking compares."""
        return [
            TargetSnapshot(
                weight,
                target.typical_price,
                target.score.latency(streamed=streamed),
                target.in_flight,
                target.score.quality(now).score,
                worse,
            )
            for target, weight, worse in zip(self.targets, self.policy.weights, self.ranks.worse, strict=True)
        ]

    def _chosen(self, session: int, now: float, streamed: bool) -> SelectedTarget:
        """For a request whose session has no target yet, or whose target cannot be asked."""
        available = self._available(now)
        if not available:
            first = min(range(len(self.targets)), key=lambda index: self.targets[index].cool_down_until)
            return SelectedTarget(self, session, first, RESTING)
        ranking = self.ranking(now, streamed=streamed)
        best = min(ranking.tiers[index] for index in available)
        behind = [index for index in available if ranking.tiers[index] > best]
        if behind and self.policy.strategy in EXPLORING and self._explores(session):
            return SelectedTarget(self, session, self._ordered(session, behind)[0], EXPLORE)
        return SelectedTarget(self, session, self._order(session, ranking, available)[0], ranking.reason)

    def _available(self, now: float) -> list[int]:
        return [index for index, target in enumerate(self.targets) if target.available(now)]

    def _explores(self, session: int) -> bool:
        drawn = uniform(session, _EXPLORES) if self.policy.sticky else self._draw()
        return drawn < self.policy.explore

    def _order(self, session: int, ranking: Ranking, among: Sequence[int]) -> list[int]:
        """By tier, and within a tier by rendezvous hashing."""
        return sorted(self._ordered(session, among), key=lambda index: ranking.tiers[index])

    def _ordered(self, session: int, among: Sequence[int]) -> list[int]:
        """By rendezvous hashing alone."""
        sticky = self.policy.sticky
        uniforms = [uniform(session, self._keys[index]) if sticky else self._draw() for index in among]
        found = scores(uniforms, [self.policy.weights[index] for index in among])
        return [index for _, index in sorted(zip(found, among, strict=True), reverse=True)]
