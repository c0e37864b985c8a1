"""A configuration ready to serve: every object that requests share, built once and replaced as a whole.

A reload builds a new GatewayState and swaps it in; requests in flight end with the one they started with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Final

from moongate.gateway.config.limit_settings import Timeouts
from moongate.gateway.config.load import Config
from moongate.gateway.config.settings import ClientKey, Model
from moongate.gateway.config.sources import Source
from moongate.gateway.http.address_limits import AddressAuth, WrongClientKeys
from moongate.gateway.http.auth import ClientAuth
from moongate.gateway.http.client_address import ClientAddresses
from moongate.gateway.http.host_policy import HostPolicy
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.http.stream_timeouts import StreamTimeouts
from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.record.answer_counters import AnswerCounters
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.quality_metrics import quality_lines
from moongate.gateway.record.schema_checks import SchemaChecks
from moongate.gateway.routing.attempt import TargetHealth
from moongate.gateway.routing.attempts import Attempts
from moongate.gateway.routing.circuit_breaker import CircuitBreaker
from moongate.gateway.routing.explain import explain
from moongate.gateway.routing.guard_budget import GuardBudget
from moongate.gateway.routing.learned_rules import LearnedRules
from moongate.gateway.routing.memory import RoutingMemory
from moongate.gateway.routing.provider_keys import KeyRing
from moongate.gateway.routing.route import Route
from moongate.gateway.routing.route_reports import RouteReports
from moongate.gateway.routing.routes import Routes
from moongate.gateway.routing.selector import RouteSelector
from moongate.gateway.shared.shared_state import SharedState
from moongate.gateway.shared.signals import TargetSignals
from moongate.gateway.store.worker_store import WorkerStore
from moongate.gateway.target import RouteTargets, Target
from moongate.net.client import HttpClient
from moongate.net.contract import Upstream
from moongate.net.deadlines import Deadlines
from moongate.net.dial import Origin
from moongate.payload import JsonObject
from moongate.prices.price import TokenPrices, token_prices
from moongate.prices.price_rows import find_price

# Client headers that are forwarded: session affinity for prompt caches, tracing, attribution. Never credentials.
FORWARDED: Final = frozenset(
    {
        b"x-session-id",
        b"x-session-affinity",
        b"traceparent",
        b"tracestate",
        b"idempotency-key",
        b"http-referer",
        b"x-title",
    }
)
NO_SIGNALS: Final = TargetSignals()
NEVER_FORWARDED: Final = frozenset({b"authorization", b"x-api-key", b"cookie", b"proxy-authorization", b"host"})


class GatewayState:
    """Everything that one configuration consists of at run time. Not changed after it serves its first request."""

    def __init__(
        self,
        config: Config,
        keys: tuple[ClientKey, ...] | None,
        metrics: Metrics,
        old: GatewayState | None,
        limiter: Limiter | None = None,
        store: WorkerStore | None = None,
        memory: RoutingMemory | None = None,
        shared: SharedState | None = None,
    ) -> None:
        """`limiter` counts what clients use, `store` records it, `memory` is what routing has learned, `shared` is for
        several gateways; where they are None, those of `old` go on."""
        settings = config.settings
        self.config, self.metrics = config, metrics
        self.routes = Routes(config)
        self.host_policy = HostPolicy(settings.host, settings.allowed_hosts)
        self.redactor = Redactor(config.secrets | {key.key for key in keys or ()})
        self.limits, self.timeouts = settings.limits, settings.timeouts
        self.log_bodies, self.log_probes = settings.log.bodies, settings.log.probes
        self.attempts = Attempts(settings.retries, lambda: metrics.values[metrics.in_flight])
        self.guard_budget = GuardBudget(settings.retries.guard_budget, lambda: metrics.values[metrics.in_flight])
        self.stream_deadlines, self.whole_deadlines = _deadlines(settings.timeouts)
        self.memory: RoutingMemory = memory or (old.memory if old is not None else RoutingMemory())
        self.shared: SharedState | None = shared or (old.shared if old is not None else None)
        self.schema_checks: SchemaChecks = old.schema_checks if old is not None else SchemaChecks(metrics)
        self.upstreams: dict[tuple[Origin, int], Upstream] = {}
        self.targets: list[Target] = [
            target for source in config.sources for target in self._targets(source, old.upstreams if old else {})
        ]
        self.limiter: Limiter = limiter or (old.limiter if old is not None else Limiter())
        # Last, because it gives clients their new limits: nothing may fail after it.
        self.store: WorkerStore | None = store or (old.store if old is not None else None)
        self.addresses = ClientAddresses(settings.trusted_proxies, settings.forwarded_header)
        self.wrong_keys: WrongClientKeys = old.wrong_keys if old is not None else WrongClientKeys()
        self.auth = self._address_auth(ClientAuth(keys, self.limiter, self.store), settings.limits.wrong_keys)
        self._stream_timeouts: dict[float, StreamTimeouts] = {}
        self._route_targets: dict[Route, RouteTargets] = {}

    @property
    def signals(self) -> TargetSignals:
        """Tell other gateways what is learned of targets; without a shared state nobody."""
        return NO_SIGNALS if self.shared is None else self.shared.signals

    def _address_auth(self, auth: ClientAuth, limit: int) -> AddressAuth:
        def refused() -> None:
            self.metrics.count("moongate_limited_total", limit="wrong_keys")

        return AddressAuth(auth, self.wrong_keys, self.addresses, limit, refused)

    def route_targets(self, route: Route) -> RouteTargets:
        found = self._route_targets.get(route)
        if found is None:
            found = self._route_targets[route] = self._new_route_targets(route)
        return found

    def _new_route_targets(self, route: Route) -> RouteTargets:
        policy = route.policy
        indexes = (route.index, *route.fallback) if policy is None else policy.targets
        targets = tuple(self.targets[index] for index in indexes)
        reports = None
        if policy is not None:
            reports = RouteReports(RouteSelector(route.name, policy, targets, self.memory.sessions), self.metrics)
        return RouteTargets(targets, tuple(target.health for target in targets), reports)

    def explain(self, name: str | None) -> list[JsonObject]:
        """How a route would choose now; None: all routes. Raises GatewayError if nothing has this name."""
        routes = self.routes.configured if name is None else [self.routes.find(name)]
        found = []
        for route in routes:
            targets = self.route_targets(route)
            selector = None if targets.reports is None else targets.reports.selector
            found.append(explain(route, targets.targets, selector, monotonic()))
        return found

    def computed_lines(self) -> Iterator[str]:
        """For the metrics: the quality of all targets, and how many gateways there are."""
        yield from quality_lines(self.targets, monotonic())
        if self.shared is not None:
            yield from self.shared.lines()

    def stream_timeouts(self, tick: float) -> StreamTimeouts:
        """The timeouts of streams, counted in ticks of `tick` seconds."""
        found = self._stream_timeouts.get(tick)
        if found is None:
            found = self._stream_timeouts[tick] = StreamTimeouts.of(self.timeouts, tick)
        return found

    def inherit(self, old: GatewayState) -> None:
        """Keep the state of what has not changed: cool-downs, keys in use, retries.

        The objects themselves are shared, so that requests in flight go on counting in the right place.
        """
        self.attempts.inherit(old.attempts)
        self.guard_budget.running = old.guard_budget.running
        before = {(target.provider, target.model): target for target in old.targets}
        for target in self.targets:
            known = before.get((target.provider, target.model))
            if known is None or (known.origin, known.path) != (target.origin, target.path):
                continue
            target.health.keys.inherit(known.health.keys)
            target.learned.inherit(known.learned.until)
            if known.headers == target.headers:
                target.health.breaker = known.health.breaker
                target.health.breaker.rules = self.config.settings.retries

    def close(self, successor: GatewayState | None = None) -> None:
        """Close the upstreams that the successor does not use."""
        kept = set(map(id, successor.upstreams.values())) if successor else set()
        for upstream in self.upstreams.values():
            if id(upstream) not in kept:
                upstream.close()
        if successor is None:
            self.schema_checks.close()

    def _targets(self, source: Source, open_upstreams: Mapping[tuple[Origin, int], Upstream]) -> list[Target]:
        provider = source.settings
        origin = Origin.parse(source.endpoint.origin, ca_file=provider.ca_file or None, proxy=provider.proxy or None)
        pool = (origin, self.limits.connections)
        upstream = self.upstreams.get(pool) or open_upstreams.get(pool) or HttpClient(origin, connections=pool[1])
        self.upstreams[pool] = upstream
        keys = KeyRing(source.keys)
        common = ((b"Content-Type", b"application/json"), *_encoded(source.headers))
        headers = {key: (*common, (b"Authorization", key)) if key else common for key in keys.headers}
        forwarded = (FORWARDED | {name.lower().encode() for name in provider.forward_headers}) - NEVER_FORWARDED
        targets = []
        for model in source.models:
            chain = self.config.transformers.chain(source.chains[model.name], model.name, provider.api_base_url)
            breaker = CircuitBreaker(self.config.settings.retries)
            health = TargetHealth(breaker, keys, *self._counters(source.name, model.name))
            target = Target(
                *(source.name, model.name, chain, origin, upstream, source.endpoint.path, headers, forwarded, health),
                metrics=self.metrics,
                prices=_prices(provider.api_base_url, model),
                learned=LearnedRules(chain),
                score=self.memory.scores.score(f"{source.name},{model.name}"),
                answers=AnswerCounters(self.metrics, source.name, model.name),
                schema_checks=self.schema_checks,
                signals=self.signals,
                judge=self.config.settings.judge,
            )
            targets.append(target)
        return targets

    def _counters(self, provider: str, model: str) -> tuple[Callable[[float], None], Callable[[str], None]]:
        labels = {"provider": provider, "model": model}

        def on_cool_down(seconds: float) -> None:
            self.metrics.count("moongate_cool_downs_total", **labels)
            self.signals.cooled(f"{provider},{model}", seconds)

        ok = self.metrics.counter("moongate_attempts_total", **labels, outcome="ok")

        def on_attempt(outcome: str) -> None:
            if outcome == "ok":
                self.metrics.values[ok] += 1
            else:
                self.metrics.count("moongate_attempts_total", **labels, outcome=outcome)

        return on_cool_down, on_attempt


def _deadlines(timeouts: Timeouts) -> tuple[Deadlines, Deadlines]:
    """Of a stream and of a whole answer."""
    before, silence = (timeouts.connect, timeouts.head), timeouts.silence
    stream = Deadlines(*before, timeouts.first_event, silence, timeouts.stream)
    return stream, Deadlines(*before, timeouts.whole, silence, timeouts.whole)


def _prices(base_url: str, model: Model) -> TokenPrices | None:
    """The configured prices of a model, else those of the table."""
    if model.price:
        return token_prices(model.price)
    row = find_price(base_url, model.name)
    return None if row is None else row.prices


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
