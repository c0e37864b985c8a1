"""A configuration made ready to serve: every object that requests share, built once and replaced as a whole.

A reload builds a new State and swaps it in; requests in flight end with the one they began with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from moongate.gateway.attempts import Attempts, Lane
from moongate.gateway.auth import Doorkeeper
from moongate.gateway.config.load import Config, Source
from moongate.gateway.config.settings import ClientKey
from moongate.gateway.health import Health, KeyRing
from moongate.gateway.meter import Meter
from moongate.gateway.metrics import Metrics
from moongate.gateway.redaction import Redactor
from moongate.gateway.relay import Patience
from moongate.gateway.routing import Route, Routes
from moongate.gateway.visitors import Visitors
from moongate.net.client import Client
from moongate.net.contract import Upstream
from moongate.net.deadlines import Deadlines
from moongate.net.dial import Origin
from moongate.pipeline.chain import Chain

# Client headers that may travel on: session affinity for prompt caches, tracing, attribution. Never credentials.
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
NEVER_FORWARDED: Final = frozenset({b"authorization", b"x-api-key", b"cookie", b"proxy-authorization", b"host"})


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A model of a provider, ready to be asked."""

    provider: str
    model: str
    chain: Chain
    origin: Origin
    upstream: Upstream
    path: str
    heads: Mapping[bytes, tuple[tuple[bytes, bytes], ...]]  # by the key: what every request says
    forwarded: frozenset[bytes]
    lane: Lane
    metrics: Metrics
    meters: dict[str, Meter] = field(default_factory=dict)  # by the front

    def meter(self, front: str) -> Meter:
        found = self.meters.get(front)
        if found is None:
            found = self.meters[front] = Meter(self.metrics, self.provider, self.model, front)
        return found


class State:
    """Built by `State(config, …)`; frozen in spirit."""

    def __init__(self, config: Config, keys: tuple[ClientKey, ...] | None, metrics: Metrics, old: State | None) -> None:
        settings = config.settings
        self.config = config
        self.metrics = metrics
        self.routes = Routes(config)
        self.doorkeeper = Doorkeeper(keys, workers=settings.workers)
        self.visitors = Visitors(settings.host, settings.allowed_hosts)
        self.redactor = Redactor(config.secrets | {key.key for key in keys or ()})
        self.limits = settings.limits
        self.timeouts = settings.timeouts
        self.log_bodies = settings.log.bodies
        self.attempts = Attempts(settings.retries, lambda: metrics.values[metrics.in_flight])
        timeouts = settings.timeouts
        phases = (timeouts.connect, timeouts.head, timeouts.first_event, timeouts.silence)
        self.stream_deadlines = Deadlines(*phases, timeouts.stream)
        self.whole_deadlines = Deadlines(*phases, timeouts.whole)
        self.upstreams: dict[tuple[Origin, int], Upstream] = {}
        self.targets: list[Target] = [
            target for source in config.sources for target in self._targets(source, old.upstreams if old else {})
        ]
        self._patience: dict[float, Patience] = {}
        self._plans: dict[int, tuple[tuple[Target, ...], tuple[Lane, ...]]] = {}

    def plan(self, route: Route) -> tuple[tuple[Target, ...], tuple[Lane, ...]]:
        """The targets of a route, the first choice first, and their lanes."""
        found = self._plans.get(route.index)
        if found is None:
            targets = tuple(self.targets[index] for index in (route.index, *route.fallback))
            found = self._plans[route.index] = targets, tuple(target.lane for target in targets)
        return found

    def patience(self, beat: float) -> Patience:
        """With streams, where a pulse beats every `beat` seconds."""
        found = self._patience.get(beat)
        if found is None:
            found = self._patience[beat] = Patience.of(self.timeouts, beat)
        return found

    def inherit(self, old: State) -> None:
        """What has not changed goes on as it was: cool-downs, keys in use, retries, what clients used of their rate.

        The objects themselves are taken over, so that requests in flight go on counting in the right place.
        """
        self.doorkeeper.inherit(old.doorkeeper)
        self.attempts.inherit(old.attempts)
        before = {(target.provider, target.model): target for target in old.targets}
        for target in self.targets:
            known = before.get((target.provider, target.model))
            if known is None or (known.origin, known.path) != (target.origin, target.path):
                continue
            target.lane.keys.inherit(known.lane.keys)
            if known.heads == target.heads:
                target.lane.health = known.lane.health
                target.lane.health.rules = self.config.settings.retries

    def close(self, successor: State | None = None) -> None:
        """Close the upstreams that nobody uses any more."""
        kept = set(map(id, successor.upstreams.values())) if successor else set()
        for upstream in self.upstreams.values():
            if id(upstream) not in kept:
                upstream.close()

    def _targets(self, source: Source, open_upstreams: Mapping[tuple[Origin, int], Upstream]) -> list[Target]:
        provider = source.settings
        origin = Origin.parse(source.endpoint.origin, ca_file=provider.ca_file or None, proxy=provider.proxy or None)
        pool = (origin, self.limits.connections)
        upstream = self.upstreams.get(pool) or open_upstreams.get(pool) or Client(origin, connections=pool[1])
        self.upstreams[pool] = upstream
        keys = KeyRing(source.keys)
        common = ((b"Content-Type", b"application/json"), *_encoded(source.headers))
        heads = {key: (*common, (b"Authorization", key)) if key else common for key in keys.headers}
        forwarded = (FORWARDED | {name.lower().encode() for name in provider.forward_headers}) - NEVER_FORWARDED
        targets = []
        for model in source.models:
            chain = self.config.transformers.chain(source.chains[model.name], model.name, provider.api_base_url)
            lane = Lane(Health(self.config.settings.retries), keys, *self._counters(source.name, model.name))
            path = source.endpoint.path
            place = (origin, upstream, path)
            targets.append(Target(source.name, model.name, chain, *place, heads, forwarded, lane, self.metrics))
        return targets

    def _counters(self, provider: str, model: str) -> tuple[Callable[[], None], Callable[[str], None]]:
        labels = {"provider": provider, "model": model}

        def cooled() -> None:
            self.metrics.count("moongate_cool_downs_total", **labels)

        ok = self.metrics.counter("moongate_attempts_total", **labels, outcome="ok")

        def tried(outcome: str) -> None:
            if outcome == "ok":
                self.metrics.values[ok] += 1
            else:
                self.metrics.count("moongate_attempts_total", **labels, outcome=outcome)

        return cooled, tried


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
