"""What a reload keeps, and what it forgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moongate.errors import TooManyRequests
from moongate.gateway.config.load import parse_config
from moongate.gateway.metrics import Metrics
from moongate.gateway.slots import Slots
from moongate.gateway.state import State, Target

URL = "http://127.0.0.1:9/v1"


def provider(name: str = "p", **more: Any) -> dict[str, Any]:
    return {"name": name, "api_base_url": URL, "api_key": ["key-one-1", "key-two-2"], "models": ["m", "n"], **more}


def state(given: dict[str, Any], old: State | None = None) -> State:
    config = parse_config(json.dumps({"api_keys": ["client-1"], **given}), "config.json", Path.cwd(), {})
    made = State(config, config.client_keys, old.metrics if old else Metrics(Slots()), old)
    if old is not None:
        made.inherit(old)
    return made


def target(found: State, provider: str = "p", model: str = "m") -> Target:
    return next(each for each in found.targets if (each.provider, each.model) == (provider, model))


def fail(found: Target, now: float = 100.0) -> None:
    for _ in range(5):
        found.lane.health.failed(now)


def test_the_health_of_a_target_that_did_not_change_is_kept() -> None:
    old = state({"providers": [provider()]})
    fail(target(old))
    new = state({"providers": [provider("q"), provider(models=["n", "m"])], "limits": {"connections": 7}}, old)
    assert not target(new).lane.health.available(101.0)
    assert target(new, model="n").lane.health.available(101.0)
    assert target(new, "q").lane.health.available(101.0)
    target(old).lane.health.succeeded(106.0)  # a request that began before the reload
    assert target(new).lane.health.available(106.0)


def test_retries_under_way_are_not_forgotten() -> None:
    old = state({"providers": [provider()]})
    new = state({"providers": [provider()], "retries": {"budget_floor": 1}}, old)
    assert new.attempts._budget is old.attempts._budget
    old.attempts._budget.retrying = 1
    assert not new.attempts._budget.allows(0)


def test_it_goes_on_under_the_new_rules() -> None:
    old = state({"providers": [provider()]})
    target(old).lane.health.failed(100.0)
    new = state({"providers": [provider()], "retries": {"failures": 2}}, old)
    assert target(new).lane.health.failed(100.0)


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
def test_a_provider_that_changed_begins_anew(change: dict[str, Any]) -> None:
    old = state({"providers": [provider()]})
    fail(target(old))
    assert target(state({"providers": [provider(**change)]}, old)).lane.health.available(101.0)


def test_keys_go_on_cooling_and_being_in_use() -> None:
    given = [{"key": "key-one-1", "concurrency": 1}, {"key": "key-two-2", "concurrency": 1}]
    old = state({"providers": [provider(api_key=given)]})
    before = target(old).lane.keys
    taken, other = before.take(100.0), before.take(100.0)
    before.give_back(other)
    before.cool(other, 160.0)
    new = target(state({"providers": [provider(api_key=[*given, "key-three"])]}, old)).lane.keys
    assert new.take(100.0).header == b"Bearer key-three"
    assert {new.take(101.0).header for _ in range(3)} == {b"Bearer key-three"}
    before.give_back(taken)
    assert taken.header in {new.take(101.0).header for _ in range(3)}


def test_the_limit_of_a_key_may_change() -> None:
    old = state({"providers": [provider(api_key={"key": "key-one-1", "concurrency": 1})]})
    target(old).lane.keys.take(100.0)
    new = target(state({"providers": [provider(api_key={"key": "key-one-1", "concurrency": 2})]}, old)).lane.keys
    new.take(100.0)
    with pytest.raises(TooManyRequests):
        new.take(100.0)


def admitted(found: State, key: bytes = b"client-1") -> Any:
    return found.doorkeeper.admit({b"x-api-key": key})


def test_a_client_s_rate_and_requests_in_flight_are_kept() -> None:
    keys = {"api_keys": [{"key": "client-1", "rate": 2, "concurrency": 2, "name": "one"}]}
    old = state({"providers": [provider()], **keys})
    admitted(old).enter(100.0)
    renamed = {"api_keys": [{"key": "client-1", "rate": 2, "concurrency": 1, "name": "two"}, "client-2"]}
    new = state({"providers": [provider()], **renamed}, old)
    assert admitted(new).name == "two"
    with pytest.raises(TooManyRequests, match="at the same time"):
        admitted(new).enter(100.0)
    admitted(old).leave()
    admitted(new).enter(100.0)
    admitted(new).leave()
    with pytest.raises(TooManyRequests, match="per minute"):
        admitted(new).enter(100.0)
    admitted(new, b"client-2").enter(100.0)


@pytest.mark.parametrize(("before", "after", "allowed"), [(0, 3, 3), (3, 0, 9), (9, 3, 3), (3, 9, 2)])
def test_a_new_rate_counts_at_once(before: int, after: int, allowed: int) -> None:
    old = state({"providers": [provider()], "api_keys": [{"key": "client-1", "rate": before}]})
    admitted(old).enter(100.0)
    new = state({"providers": [provider()], "api_keys": [{"key": "client-1", "rate": after}]}, old)
    entered = 0
    for _ in range(9):
        try:
            admitted(new).enter(100.0)
        except TooManyRequests:
            break
        entered += 1
    assert entered == allowed
