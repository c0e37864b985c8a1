"""What a route costs per request, in CPU µs of this process: `python -m bench.route_cost`.

First the choice alone, then a whole small request inside the gateway, by a route and without one. The same code runs
twice in turns; the difference of the two is the noise (A/A). With `make compiled`, run it by `.compiled/bin/python`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any

import uvloop

from bench.inside import CHAT as SMALL_CHAT
from bench.inside import Inside, cpu_of
from bench.turns import FRONTS
from bench.upstream import SMALL
from moongate import payload
from moongate.gateway.config.load import parse_config
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.server.resources import collect_rarely
from moongate.gateway.state import GatewayState
from moongate.gateway.target import RouteTargets
from moongate.payload import dumps_text

STRATEGIES = ("ordered", "weighted", "quality")
DIRECT = "plain/small"
TIMES, ROUNDS = 3000, 60
REQUEST_SECONDS = 0.03  # of CPU time, in each round
HEADERS = {b"host": b"127.0.0.1:3000", b"content-type": b"application/json", b"user-agent": b"bench", b"accept": b"*/*"}
CHAT: dict[str, Any] = {
    "model": "kimi",
    "messages": [{"role": "system", "content": "You are. " * 900}, {"role": "user", "content": "Fix the bug. " * 9}],
}


def state() -> GatewayState:
    names = ("a", "b", "c")
    providers = [{"name": name, "api_base_url": "http://127.0.0.1:9", "models": ["x"]} for name in names]
    routes = {strategy: {"targets": [f"{name},x" for name in names], "strategy": strategy} for strategy in STRATEGIES}
    config = parse_config(dumps_text({"providers": providers, "routes": routes, "admin": "off"}), "bench", Path(), {})
    return GatewayState(config, None, Metrics(SharedCounters()), None)


def chosen(targets: RouteTargets, headers: Mapping[bytes, bytes]) -> float:
    """µs for one selected and what is said of it."""
    begin = process_time()
    for _ in range(TIMES):
        selected = targets.choose(headers, CHAT, b"c" * 32, streamed=True)
        targets.record_attempt(selected, 0 if selected is None else selected.first)
    return (process_time() - begin) / TIMES * 1e6


def scored(targets: RouteTargets) -> float:
    """µs for counting one answer."""
    score = targets.targets[0].score
    begin = process_time()
    for _ in range(TIMES):
        score.record("clean", 100.0)
        score.record_latency(0.1, streamed=True)
    return (process_time() - begin) / TIMES * 1e6


def twice(measure: Callable[[], float]) -> str:
    """The best of many rounds, A and A again, in turns."""
    first, second = zip(*((measure(), measure()) for _ in range(ROUNDS)), strict=True)
    return f"{min(first):.2f} and {min(second):.2f} µs"


async def requests() -> dict[str, tuple[float, float]]:
    """A small request with everything but the sockets, twice, in turns: the best of many rounds."""
    targets = [{"model": f"{provider},small"} for provider in ("plain", "agent")]
    inside = Inside(routes={strategy: {"targets": targets, "strategy": strategy} for strategy in STRATEGIES}, judge=0)
    names = (DIRECT, *STRATEGIES)
    runs = {name: inside.asked(FRONTS["chat"], json.dumps({**SMALL_CHAT, "model": name}), [SMALL]) for name in names}
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            for samples in found[name]:
                samples.append(await cpu_of(run, REQUEST_SECONDS) * 1e6)
    inside.close()
    return {name: (min(first), min(second)) for name, (first, second) in found.items()}


def main() -> None:
    running = state()
    print("compiled" if not str(payload.__file__).endswith(".py") else "interpreted")
    for strategy in STRATEGIES:
        targets = running.route_targets(running.routes.find(strategy))
        named = {**HEADERS, b"x-session-id": b"0123456789abcdef"}
        by_header = twice(lambda targets=targets, named=named: chosen(targets, named))  # type: ignore[misc]
        print(f"{strategy}: session named by a header {by_header}")
        print(f"{strategy}: session hashed {twice(lambda targets=targets: chosen(targets, HEADERS))}")  # type: ignore[misc]
    print(f"an answer scored {twice(lambda: scored(targets))}")
    running.close()
    collect_rarely()  # as the server does
    whole = uvloop.run(requests())
    (direct, again), routed = whole[DIRECT], {name: whole[name] for name in STRATEGIES}
    print(f"a request without a route {direct:.2f} and {again:.2f} µs")
    for strategy, (first, second) in routed.items():
        more = (first + second - direct - again) / 2
        print(f"{strategy}: a request {first:.2f} and {second:.2f} µs, {more:+.2f} by the route")


if __name__ == "__main__":
    main()
