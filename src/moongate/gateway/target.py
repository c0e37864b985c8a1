"""What a request is sent to: a model of a provider, or several of them one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from moongate.gateway.record.answer_counters import AnswerCounters
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.schema_checks import SchemaChecks
from moongate.gateway.record.target_counters import TargetCounters
from moongate.gateway.routing.attempt import TargetHealth
from moongate.gateway.routing.quality import TargetScore
from moongate.gateway.routing.route_reports import RouteReports
from moongate.gateway.routing.selector import RouteSelector, SelectedTarget
from moongate.gateway.routing.session_key import session_key
from moongate.gateway.routing.strategies import typical_price
from moongate.gateway.shared.signals import TargetSignals
from moongate.native.exchange import NativeRules, rules_in
from moongate.net.contract import UploadingUpstream
from moongate.net.dial import Origin
from moongate.payload import JsonObject
from moongate.pipeline.chain import Chain
from moongate.pipeline.learned_rules import LearnedRules
from moongate.prices.price import TokenPrices


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A model of a provider, with everything that a request to it needs."""

    provider: str
    model: str
    chain: Chain
    origins: tuple[Origin, ...]
    upstream: UploadingUpstream
    path: str
    headers: Mapping[bytes, tuple[tuple[bytes, bytes], ...]]  # of every request, by the provider key in use
    forwarded: frozenset[bytes]
    health: TargetHealth
    metrics: Metrics
    prices: TokenPrices | None  # None: unknown
    learned: LearnedRules  # what its refusals have taught
    score: TargetScore  # what its answers were worth, for routes
    answers: AnswerCounters  # the same, for the metrics
    schema_checks: SchemaChecks
    signals: TargetSignals  # publishes to other gateways
    judge: float  # share of answers whose calls are checked against their schemas
    dialect: str = "chat"  # that the provider speaks, by the name of its front
    counters_by_front: dict[str, TargetCounters] = field(default_factory=dict)

    names: frozenset[str] = field(init=False)  # what clients call it without an alias

    def __post_init__(self) -> None:
        names = (self.model, self.name, f"{self.provider}/{self.model}")
        object.__setattr__(self, "names", frozenset(names))

    @property
    def name(self) -> str:
        return f"{self.provider},{self.model}"

    @property
    def native_rules(self) -> NativeRules | None:
        """What Kimi asks of requests that are not in the middle language, if it is in the chain."""
        return rules_in(self.chain.transformers)

    @property
    def typical_price(self) -> int | None:
        return typical_price(self.prices)

    @property
    def has_known_price(self) -> bool:
        return self.prices is not None and self.prices.are_known

    @property
    def in_flight(self) -> int:
        return self.health.in_flight

    @property
    def cool_down_until(self) -> float:
        return self.health.breaker.until

    def available(self, now: float) -> bool:
        return self.health.breaker.available(now)

    def counters(self, front: str) -> TargetCounters:
        found = self.counters_by_front.get(front)
        if found is None:
            found = self.counters_by_front[front] = TargetCounters(self.metrics, self.provider, self.model, front)
        return found


class RouteTargets(NamedTuple):
    """The targets of a route, the preferred one first, and the health of each."""

    targets: tuple[Target, ...]
    healths: tuple[TargetHealth, ...]
    reports: RouteReports | None  # with what chooses among them; None: they are asked in this order

    @property
    def selector(self) -> RouteSelector | None:
        return None if self.reports is None else self.reports.selector

    def choose(
        self, headers: Mapping[bytes, bytes], chat: JsonObject, client: bytes, *, streamed: bool
    ) -> SelectedTarget | None:
        """Which target a request of `client` is sent to first; None: in order."""
        if self.reports is None:
            return None
        session = session_key(headers, chat, client)
        return self.reports.selector.choose(session, monotonic(), streamed=streamed)

    def record_attempt(self, selected: SelectedTarget | None, index: int) -> None:
        """An attempt at the target `index` begins."""
        if selected is not None and self.reports is not None:
            self.reports.record_attempt(selected, index, monotonic())
