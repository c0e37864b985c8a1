"""What a reload keeps, and what it resets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moongate.errors import TooManyRequests
from moongate.gateway.config.load import parse_config
from moongate.gateway.http.limit_errors import limit_error
from moongate.gateway.limits.limit_set import Refusal
from moongate.gateway.limits.limiter import Admission
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.state import GatewayState
from moongate.gateway.target import Target

URL = "http://127.0.0.1:9/v1"


def provider(name: str = "p", **more: Any) -> dict[str, Any]:
    return {"name": name, "api_base_url": URL, "api_key": ["key-one-1", "key-two-2"], "models": ["m", "n"], **more}


def state(given: dict[str, Any], old: GatewayState | None = None) -> GatewayState:
    config = parse_config(json.dumps({"api_keys": ["client-1"], **given}), "config.json", Path.cwd(), {})
    made = GatewayState(config, config.client_keys, old.metrics if old else Metrics(SharedCounters()), old)
    if old is not None:
        made.inherit(old)
    return made


def target(found: GatewayState, provider: str = "p", model: str = "m") -> Target:
    return next(each for each in found.targets if (each.provider, each.model) == (provider, model))


def fail(found: Target, now: float = 100.0) -> None:
    for _ in range(5):
        found.health.breaker.failed(now)


def test_the_health_of_a_target_that_did_not_change_is_kept() -> None:
    old = state({"providers": [provider()]})
    fail(target(old))
    new = state({"providers": [provider("q"), provider(models=["n", "m"])], "limits": {"connections": 7}}, old)
    assert not target(new).health.breaker.available(101.0)
    assert target(new, model="n").health.breaker.available(101.0)
    assert target(new, "q").health.breaker.available(101.0)
    target(old).health.breaker.succeeded(106.0)  # a request that began before the reload
    assert target(new).health.breaker.available(106.0)


def test_running_retries_still_count_after_a_reload() -> None:
    old = state({"providers": [provider()]})
    new = state({"providers": [provider()], "retries": {"budget_floor": 1}}, old)
    assert new.attempts._budget is old.attempts._budget
    old.attempts._budget.retrying = 1
    assert not new.attempts._budget.allows(0)


def test_the_new_rules_apply_to_kept_state() -> None:
    old = state({"providers": [provider()]})
    target(old).health.breaker.failed(100.0)
    new = state({"providers": [provider()], "retries": {"failures": 2}}, old)
    assert target(new).health.breaker.failed(100.0)


@pytest.mark.parametrize(
    "change",
    [
        {"api_base_url": "http://127.0.0.1:8/v1"},
        {"api_base_url": "http://127.0.0.1:9/v2"},
        {"api_key": "key-three"},
        {"headers": {"x-team": "other"}},
        {"proxy": "http://127.0.0.1:7"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_changed_provider_starts_without_state(change: dict[str, Any]) -> None:
    old = state({"providers": [provider()]})
    fail(target(old))
    assert target(state({"providers": [provider(**change)]}, old)).health.breaker.available(101.0)


def test_cool_downs_and_use_of_keys_are_kept() -> None:
    given = [{"key": "key-one-1", "concurrency": 1}, {"key": "key-two-2", "concurrency": 1}]
    old = state({"providers": [provider(api_key=given)]})
    before = target(old).health.keys
    taken, other = before.acquire(100.0), before.acquire(100.0)
    before.release(other)
    before.cool(other, 160.0)
    new = target(state({"providers": [provider(api_key=[*given, "key-three"])]}, old)).health.keys
    assert new.acquire(100.0).header == b"Bearer key-three"
    assert {new.acquire(101.0).header for _ in range(3)} == {b"Bearer key-three"}
    before.release(taken)
    assert taken.header in {new.acquire(101.0).header for _ in range(3)}


def test_the_limit_of_a_key_may_change() -> None:
    old = state({"providers": [provider(api_key={"key": "key-one-1", "concurrency": 1})]})
    target(old).health.keys.acquire(100.0)
    new = target(state({"providers": [provider(api_key={"key": "key-one-1", "concurrency": 2})]}, old)).health.keys
    new.acquire(100.0)
    with pytest.raises(TooManyRequests):
        new.acquire(100.0)


class Local:
    peer = "127.0.0.1"


LOCAL = Local()


def client_of(found: GatewayState, key: bytes = b"client-1") -> Any:
    return found.auth.authenticate({b"x-api-key": key}, LOCAL)


def admit(found: GatewayState, key: bytes = b"client-1") -> Admission:
    """Begin a request of the client. Raises TooManyRequests."""
    admission = found.limiter.admit(client_of(found, key).accounts)
    if isinstance(admission, Refusal):
        raise limit_error(admission)
    return admission


def test_a_client_s_rate_and_requests_in_flight_are_kept() -> None:
    keys = {"api_keys": [{"key": "client-1", "rate": 2, "concurrency": 2, "name": "one"}]}
    old = state({"providers": [provider()], **keys})
    first = admit(old)
    renamed = {"api_keys": [{"key": "client-1", "rate": 2, "concurrency": 1, "name": "two"}, "client-2"]}
    new = state({"providers": [provider()], **renamed}, old)
    assert client_of(new).name == "two"
    with pytest.raises(TooManyRequests, match="at the same time"):
        admit(new)
    first.release()
    admit(new).release()
    with pytest.raises(TooManyRequests, match="per minute"):
        admit(new)
    admit(new, b"client-2")


@pytest.mark.parametrize(("before", "after", "allowed"), [(0, 3, 3), (3, 0, 9), (9, 3, 3), (3, 9, 2)])
def test_a_new_rate_applies_at_once(before: int, after: int, allowed: int) -> None:
    old = state({"providers": [provider()], "api_keys": [{"key": "client-1", "rate": before}]})
    admit(old)
    new = state({"providers": [provider()], "api_keys": [{"key": "client-1", "rate": after}]}, old)
    acquired = 0
    for _ in range(9):
        try:
            admit(new)
        except TooManyRequests:
            break
        acquired += 1
    assert acquired == allowed
