"""The settings of time and quantity: timeouts, limits, retries, and what the log holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moongate.gateway.config.shapes import Flag, Number, OneOf
from moongate.gateway.config.table import setting
from moongate.payload import MAX_VALUES

SECONDS: Final = Number(0.001, 86_400, unit="seconds")
COUNT: Final = Number(1, 1_000_000, integer=True)
BYTES: Final = Number(1024, 1 << 30, integer=True)


@dataclass(frozen=True, eq=False, repr=False)
class Timeouts:
    """How long each wait may last, in seconds."""

    connect: float = setting(SECONDS, 5.0, "opening a connection to the provider, TLS included")
    head: float = setting(SECONDS, 120.0, "from the request sent to the head of the provider's answer")
    first_event: float = setting(SECONDS, 120.0, "from the request sent to the first event of a stream")
    # The arguments of a call may take K3 minutes, in which some hosts send nothing.
    silence: float = setting(SECONDS, 300.0, "between two pieces of the provider's answer")
    stream: float = setting(SECONDS, 3600.0, "a whole streamed answer, all attempts included")
    # SDKs wait 600 seconds and ask again then: they must get the error before.
    whole: float = setting(SECONDS, 590.0, "a whole answer that is not streamed, all attempts included")
    commit: float = setting(SECONDS, 10.0, "how long status 200 waits for a stream's first event")
    keep_alive: float = setting(SECONDS, 15.0, "silence after which a client is sent a keep-alive")
    client_head: float = setting(SECONDS, 10.0, "a client sending the head of its request")
    client_body: float = setting(SECONDS, 30.0, "a client sending the body of its request")
    client_unread: float = setting(SECONDS, 60.0, "a client reading nothing of what was written to it")
    idle: float = setting(SECONDS, 75.0, "an idle connection of a client is kept open")
    drain: float = setting(SECONDS, 30.0, "requests in flight may take when the gateway is told to stop")


@dataclass(frozen=True, eq=False, repr=False)
class Limits:
    """How much of everything is taken."""

    request_body: int = setting(BYTES, 32 << 20, "bytes of a request's body")
    incoming_bodies: int = setting(
        BYTES, 256 << 20, "bytes of bodies that are still being received, per worker; beyond: 503"
    )
    request_head: int = setting(BYTES, 64 << 10, "bytes of a request's head")
    json_depth: int = setting(Number(8, 512, integer=True), 128, "levels of nesting in a request")
    json_values: int = setting(
        Number(1000, 100_000_000, integer=True), MAX_VALUES, "JSON values in a request: each takes memory"
    )
    event: int = setting(BYTES, 8 << 20, "bytes of one event of a provider's stream")
    answer: int = setting(
        BYTES, 64 << 20, "bytes of a provider's answer that is not streamed; texts and calls of one that is"
    )
    in_flight: int = setting(COUNT, 1000, "requests at the same time, per worker; beyond: 503")
    connections: int = setting(COUNT, 2000, "connections to one provider, per worker")
    connections_per_address: int = setting(
        COUNT,
        8192,
        "connections of one client address, per worker (behind `trusted_proxies`: requests at once); beyond: 429",
    )
    wrong_keys: int = setting(
        Number(0, 1_000_000, integer=True),
        60,
        "wrong keys of one client address per minute, per worker; beyond: 429, unread; 0: no limit",
    )


@dataclass(frozen=True, eq=False, repr=False)
class Retries:
    """What happens when a provider fails before the first byte of its answer."""

    retries: int = setting(Number(0, 10, integer=True), 2, "further tries at the same target")
    attempts: int = setting(Number(1, 20, integer=True), 3, "upstream requests for one client request, in all")
    backoff: float = setting(Number(0, 60, unit="seconds"), 0.25, "before the first retry; doubles, with jitter")
    obey: float = setting(Number(0, 60, unit="seconds"), 10.0, "longest Retry-After that is waited for here")
    budget: float = setting(Number(0, 1), 0.2, "retries at the same time, as a share of the requests in flight")
    guard_budget: float = setting(
        Number(0, 1), 0.5, "requests whose answers the guard asks for again, as a share of the requests in flight"
    )
    budget_floor: int = setting(Number(0, 1000, integer=True), 3, "retries at the same time that are always allowed")
    failures: int = setting(COUNT, 5, "failures in a row after which a target cools down")
    cool_down: float = setting(SECONDS, 5.0, "first cool-down of a target; doubles")
    cool_down_most: float = setting(SECONDS, 60.0, "longest cool-down of a target")


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """The access log, on standard output: one line per request."""

    format: str = setting(OneOf(("auto", "json", "text", "off")), "auto", "`auto`: text on a terminal, else JSON")
    bodies: bool = setting(Flag(), False, "log prompts and answers as well: only for hunting a fault")
    probes: bool = setting(
        Flag(), False, "log health checks (requests for `/`, `/health`, `/ready` and `/api/hello`) as well"
    )
