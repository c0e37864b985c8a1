"""Makes the targets of a configuration: each model of each provider, with everything that a request to it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from moongate.gateway.config.passthrough_settings import PassThroughPath
from moongate.gateway.config.settings import Model
from moongate.gateway.config.sources import Source
from moongate.gateway.record.answer_counters import AnswerCounters
from moongate.gateway.routing.attempt import TargetHealth
from moongate.gateway.routing.circuit_breaker import CircuitBreaker
from moongate.gateway.routing.pass_through_routes import PassThroughRoute, PassThroughRoutes
from moongate.gateway.routing.provider_keys import KeyRing
from moongate.gateway.routing.upstream_pool import UpstreamPool
from moongate.gateway.target import Target
from moongate.net.client import HttpClient
from moongate.net.contract import UploadingUpstream
from moongate.net.dial import Origin
from moongate.pipeline.chain import Chain
from moongate.pipeline.learned_rules import LearnedRules
from moongate.prices.price import TokenPrices, token_prices
from moongate.prices.price_rows import find_price

if TYPE_CHECKING:
    from moongate.gateway.state import GatewayState

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
# Whatever `forward_headers` says: credentials, and what belongs to one connection or frames a message.
NEVER_FORWARDED: Final = frozenset(
    {
        *(b"authorization", b"x-api-key", b"cookie", b"proxy-authorization", b"host", b"connection", b"keep-alive"),
        *(b"content-length", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"expect", b"content-encoding"),
        *(b"accept-encoding", b"content-type", b"proxy-connection"),
    }
)

ANTHROPIC: Final = frozenset({b"anthropic-version", b"anthropic-beta"})
FRONT_OF: Final = {"chat": "chat", "anthropic": "messages", "responses": "responses"}  # by a provider's dialect

UpstreamKey = tuple[tuple[Origin, ...], int]  # and how many connections to each


class TargetFactory:
    """For one state. `upstreams` are those of its targets; those in `open_upstreams` go on where they fit."""

    def __init__(self, state: GatewayState, open_upstreams: Mapping[UpstreamKey, UploadingUpstream]) -> None:
        self._state = state
        self._open = open_upstreams
        self._key_rings: dict[str, KeyRing] = {}  # by provider
        self.upstreams: dict[UpstreamKey, UploadingUpstream] = {}

    def targets(self, source: Source) -> list[Target]:
        """The models of a provider."""
        transformers, base_url = self._state.config.transformers, source.settings.base_url
        json = ((b"Content-Type", b"application/json"),)
        return [
            self._target(
                *(source, model.name, transformers.chain(source.chains[model.name], model.name, base_url)),
                *(source.endpoint.path, json, known_prices(base_url, model)),
            )
            for model in source.models
        ]

    def pass_through_routes(self, sources: Iterable[Source]) -> PassThroughRoutes:
        """The paths of all providers that are open."""
        return PassThroughRoutes(
            self._pass_through(source, each) for source in sources for each in source.settings.passthrough
        )

    def _pass_through(self, source: Source, opened: PassThroughPath) -> PassThroughRoute:
        prices = token_prices(opened.price) if opened.price else None
        target = self._target(source, opened.path, Chain(), source.endpoint.below(opened.path), (), prices)
        return PassThroughRoute(target, source.endpoint.query)

    def _target(
        self,
        source: Source,
        model: str,
        chain: Chain,
        path: str,
        common: tuple[tuple[bytes, bytes], ...],
        prices: TokenPrices | None,
    ) -> Target:
        """All targets of a provider share its connections and its keys."""
        state, keys, name = self._state, self._key_ring(source), source.name
        common = (*common, *_encoded(source.headers))
        front = FRONT_OF[source.settings.dialect]
        headers = {key: (*common, *_credentials(key, front)) for key in keys.headers}
        asked = {header.lower().encode() for header in source.settings.forward_headers}
        return Target(
            *(name, model, chain, source.origins, self._upstream(source.origins), path, headers),
            *(
                (FORWARDED | ANTHROPIC | asked if front == "messages" else FORWARDED | asked) - NEVER_FORWARDED,
                self._health(name, model, keys),
            ),
            metrics=state.metrics,
            prices=prices,
            learned=LearnedRules(chain),
            score=state.memory.scores.score(f"{name},{model}"),
            answers=AnswerCounters(state.metrics, name, model),
            schema_checks=state.schema_checks,
            signals=state.signals,
            judge=state.config.settings.judge,
            dialect=front,
        )

    def _key_ring(self, source: Source) -> KeyRing:
        found = self._key_rings.get(source.name)
        if found is None:
            found = self._key_rings[source.name] = KeyRing(source.keys)
        return found

    def _upstream(self, origins: tuple[Origin, ...]) -> UploadingUpstream:
        key = (origins, self._state.limits.connections)
        found = self.upstreams.get(key) or self._open.get(key)
        if found is None:
            clients = [HttpClient(origin, connections=key[1]) for origin in origins]
            found = clients[0] if len(clients) == 1 else UpstreamPool(clients, self._state.config.settings.retries)
        self.upstreams[key] = found
        return found

    def _health(self, provider: str, model: str, keys: KeyRing) -> TargetHealth:
        breaker = CircuitBreaker(self._state.config.settings.retries)
        return TargetHealth(breaker, keys, *self._counters(provider, model))

    def _counters(self, provider: str, model: str) -> tuple[Callable[[float], None], Callable[[str], None]]:
        state, labels = self._state, {"provider": provider, "model": model}

        def on_cool_down(seconds: float) -> None:
            state.metrics.count("moongate_cool_downs_total", **labels)
            state.signals.cooled(f"{provider},{model}", seconds)

        ok = state.metrics.counter("moongate_attempts_total", **labels, outcome="ok")

        def on_attempt(outcome: str) -> None:
            if outcome == "ok":
                state.metrics.values[ok] += 1
            else:
                state.metrics.count("moongate_attempts_total", **labels, outcome=outcome)

        return on_cool_down, on_attempt


def known_prices(base_url: str, model: Model) -> TokenPrices | None:
    """The configured prices of a model, else those of the table."""
    if model.price:
        return token_prices(model.price)
    row = find_price(base_url, model.name)
    return None if row is None else row.prices


def _credentials(key: bytes, front: str) -> tuple[tuple[bytes, bytes], ...]:
    """Anthropic's clients send a key in one of two headers, and servers read one of them."""
    if not key:
        return ()
    bearer = (b"Authorization", key)
    return (bearer, (b"x-api-key", key.removeprefix(b"Bearer "))) if front == "messages" else (bearer,)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
