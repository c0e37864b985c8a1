"""What a route costs per request, in CPU µs of this process: `python -m bench.route_cost`.

The same code runs twice in turns; the difference of the two is the noise (A/A). With `make compiled`, run it by
`.compiled/bin/python`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any

from moongate import payload
from moongate.gateway.config.load import parse_config
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.state import GatewayState
from moongate.gateway.target import RouteTargets
from moongate.payload import dumps_text

TIMES, ROUNDS = 3000, 60
HEADERS = {b"host": b"127.0.0.1:3000", b"content-type": b"application/json", b"user-agent": b"bench", b"accept": b"*/*"}
CHAT: dict[str, Any] = {
    "model": "kimi",
    "messages": [{"role": "system", "content": "You are. " * 900}, {"role": "user", "content": "Fix the bug. " * 9}],
}


def state() -> GatewayState:
    names = ("a", "b", "c")
    providers = [{"name": name, "api_base_url": "http://127.0.0.1:9", "models": ["x"]} for name in names]
    routes = {
        strategy: {"targets": [f"{name},x" for name in names], "strategy": strategy}
        for strategy in ("ordered", "weighted", "quality")
    }
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


def main() -> None:
    running = state()
    print("compiled" if not str(payload.__file__).endswith(".py") else "interpreted")
    for strategy in ("ordered", "weighted", "quality"):
        targets = running.route_targets(running.routes.find(strategy))
        named = {**HEADERS, b"x-session-id": b"0123456789abcdef"}
        by_header = twice(lambda targets=targets, named=named: chosen(targets, named))  # type: ignore[misc]
        print(f"{strategy}: session named by a header {by_header}")
        print(f"{strategy}: session hashed {twice(lambda targets=targets: chosen(targets, HEADERS))}")  # type: ignore[misc]
    print(f"an answer scored {twice(lambda: scored(targets))}")
    running.close()


if __name__ == "__main__":
    main()
