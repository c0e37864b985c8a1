"""A configuration ready to serve: every object that requests share, built once and replaced as a whole.

A reload builds a new GatewayState and swaps it in; requests in flight end with the one they started with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Final

from moongate.gateway.config.limit_settings import Timeouts
from moongate.gateway.config.load import Config
from moongate.gateway.config.settings import ClientKey
from moongate.gateway.http.address_limits import AddressAuth, WrongClientKeys
from moongate.gateway.http.auth import ClientAuth
from moongate.gateway.http.client_address import ClientAddresses
from moongate.gateway.http.host_policy import HostPolicy
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.http.stream_timeouts import StreamTimeouts
from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.record.client_counters import ClientCounters
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.quality_metrics import quality_lines
from moongate.gateway.record.schema_checks import SchemaChecks
from moongate.gateway.routing.attempts import Attempts
from moongate.gateway.routing.explain import explain
from moongate.gateway.routing.guard_budget import GuardBudget
from moongate.gateway.routing.memory import RoutingMemory
from moongate.gateway.routing.pass_through_routes import PassThroughRoutes
from moongate.gateway.routing.route import Route
from moongate.gateway.routing.route_reports import RouteReports
from moongate.gateway.routing.routes import Routes
from moongate.gateway.routing.selector import RouteSelector
from moongate.gateway.shared.shared_state import SharedState
from moongate.gateway.shared.signals import TargetSignals
from moongate.gateway.store.worker_store import WorkerStore
from moongate.gateway.target import RouteTargets, Target
from moongate.gateway.target_factory import TargetFactory, UpstreamKey
from moongate.net.contract import UploadingUpstream
from moongate.net.deadlines import Deadlines
from moongate.payload import JsonObject

NO_SIGNALS: Final = TargetSignals()


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
        self.config, self.metrics, self.routes = config, metrics, Routes(config)
        self.host_policy = HostPolicy(settings.host, settings.allowed_hosts)
        self.redactor = Redactor(config.secrets | {key.key for key in keys or ()})
        self.limits, self.timeouts = settings.limits, settings.timeouts
        self.log_bodies, self.log_probes = settings.log.bodies, settings.log.probes
        self.inspect_all = settings.inspect.all
        known: ClientCounters | None = old.client_counters if old is not None else None
        self.client_counters: ClientCounters = ClientCounters(metrics, settings.client_metrics, known)
        self.attempts = Attempts(settings.retries, lambda: metrics.values[metrics.in_flight])
        self.guard_budget = GuardBudget(settings.retries.guard_budget, lambda: metrics.values[metrics.in_flight])
        self.stream_deadlines, self.whole_deadlines = _deadlines(settings.timeouts)
        self.memory: RoutingMemory = memory or (old.memory if old is not None else RoutingMemory())
        self.shared: SharedState | None = shared or (old.shared if old is not None else None)
        self.schema_checks: SchemaChecks = old.schema_checks if old is not None else SchemaChecks(metrics)
        factory = TargetFactory(self, old.upstreams if old is not None else {})
        self.targets: list[Target] = [target for source in config.sources for target in factory.targets(source)]
        self.pass_through: PassThroughRoutes = factory.pass_through_routes(config.sources)
        self.upstreams: Mapping[UpstreamKey, UploadingUpstream] = factory.upstreams
        self.limiter: Limiter = limiter or (old.limiter if old is not None else Limiter())
        # Last, because it gives clients their new limits: nothing may fail after it.
        self.store: WorkerStore | None = store or (old.store if old is not None else None)
        self.addresses = ClientAddresses(settings.trusted_proxies, settings.forwarded_header)
        self.wrong_keys: WrongClientKeys = old.wrong_keys if old is not None else WrongClientKeys()
        self.auth = self._address_auth(ClientAuth(keys, self.limiter, self.store), settings.limits.wrong_keys)
        self._stream_timeouts: dict[float, StreamTimeouts] = {}
        self._route_targets: dict[tuple[Route, bool], RouteTargets] = {}

    @property
    def signals(self) -> TargetSignals:
        """Publish what is learned of targets to other gateways, if there is a shared state."""
        return NO_SIGNALS if self.shared is None else self.shared.signals

    def _address_auth(self, auth: ClientAuth, limit: int) -> AddressAuth:
        def refused() -> None:
            self.metrics.count("moongate_limited_total", limit="wrong_keys")

        return AddressAuth(auth, self.wrong_keys, self.addresses, limit, refused)

    def route_targets(self, route: Route, *, priced: bool = False) -> RouteTargets:
        """`priced`: only those whose price is known, if there are any."""
        found = self._route_targets.get((route, priced))
        if found is None:
            found = self._route_targets[route, priced] = self._new_route_targets(route, priced=priced)
        return found

    def _new_route_targets(self, route: Route, *, priced: bool = False) -> RouteTargets:
        if priced:
            kept = route.among(lambda index: self.targets[index].has_known_price)
            return self.route_targets(kept) if kept is route else self._new_route_targets(kept)
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
        pairs = [(route, self.route_targets(route)) for route in routes]
        return [explain(route, found.targets, found.selector, monotonic()) for route, found in pairs]

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
            if known is None or (known.origins, known.path) != (target.origins, target.path):
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


def _deadlines(timeouts: Timeouts) -> tuple[Deadlines, Deadlines]:
    """Of a stream and of a whole answer."""
    before, silence = (timeouts.connect, timeouts.head), timeouts.silence
    stream = Deadlines(*before, timeouts.first_event, silence, timeouts.stream)
    return stream, Deadlines(*before, timeouts.whole, silence, timeouts.whole)
