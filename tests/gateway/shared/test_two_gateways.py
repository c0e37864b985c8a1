"""Two gateways as processes of their own, over one real Redis and one simulated provider."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.soak.billing_clients import TOOL
from tests.support.background import Background
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY
from tests.support.postgres import PostgresServer
from tests.support.redis_server import RedisServer

from moongate import sim
from moongate.gateway.store.key_watch import LOOK_SECONDS

ADMIN_KEY = "canary-admin-0123456789-0123456789"
SLOTS = 4
LEASE = 3
SLOW, STALLED = "kimi-k2-sim-slow", "kimi-k2-sim-stalled"
MODEL = "kimi-k2-sim"
KIMI = {"use": ["Kimi"]}
SECONDS = 60
REACHES_ALL = 5.0  # seconds in which a change of a key reaches every gateway


@dataclass
class RunningNode:
    process: subprocess.Popen[bytes]
    root: str
    admin: str


@contextlib.contextmanager
def node(folder: Path, name: str, redis: RedisServer, upstream: str, **settings: Any) -> Iterator[RunningNode]:
    folder.mkdir()
    provider = {"name": "sim", "api_base_url": upstream, "api_key": PROVIDER_KEY, "models": [SLOW, STALLED, MODEL]}
    config = {
        "providers": [provider],
        "api_keys": [{"key": CLIENT_KEY, "concurrency": SLOTS}],
        "state": {"url": redis.url, "node": name, "lease": LEASE, "deadline": 10},
        "admin": {"port": 0, "key": ADMIN_KEY},
        "log": {"format": "off"},
        "store": "off",
        **settings,
    }
    (folder / "config.json").write_text(json.dumps(config))
    with (folder / "err.txt").open("wb") as err:
        command = [sys.executable, "-m", "moongate", "serve", "--config", str(folder / "config.json"), "--port", "0"]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
            env={**os.environ, "MOONGATE_HOME": str(folder)},
        )  # fmt: skip
    try:
        end = time.monotonic() + SECONDS
        while "listens on" not in (text := (folder / "err.txt").read_text()) or "admin" not in text:
            assert process.poll() is None, text
            assert time.monotonic() < end, text
            time.sleep(0.05)
        roots = [word.rstrip(",;.") for word in text.split() if word.startswith("http://127.0.0.1:")]
        yield RunningNode(process, roots[0], next(root for root in roots if root != roots[0]).split("/admin")[0])
    finally:
        process.kill()
        process.wait(SECONDS)


def fetch(
    url: str, key: str, body: object = None, *, method: str | None = None, session: str = ""
) -> tuple[int, bytes]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    if session:
        headers["x-session-id"] = session
    try:
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()
    except (OSError, http.client.HTTPException):
        return 0, b""


def ask(root: str, model: str = SLOW) -> int:
    body = {"model": model, "messages": [{"role": "user", "content": "hello"}], "stream": True}
    return fetch(f"{root}/v1/chat/completions", CLIENT_KEY, body)[0]


def nodes_of(running: RunningNode) -> dict[str, bool]:
    found = json.loads(fetch(f"{running.admin}/admin/v1/nodes", ADMIN_KEY)[1])
    return {each["name"]: each["alive"] for each in found["data"]} if found["shared"] else {}


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_limits_hold_over_both_and_survive_the_death_of_one(redis: RedisServer, tmp_path: Path) -> None:
    with Background() as background, ThreadPoolExecutor(40) as threads:
        provider = background.run(sim.start())
        with (
            node(tmp_path / "a", "a", redis, provider.url) as one,
            node(tmp_path / "b", "b", redis, provider.url) as other,
        ):
            until(lambda: all(nodes_of(each) == {"a": True, "b": True} for each in (one, other)))
            roots = [one.root, other.root]
            statuses = list(threads.map(ask, roots * 20))
            assert set(statuses) == {200, 429}
            # At any moment at most so many were in flight; all that were admitted were answered.
            assert statuses.count(200) >= SLOTS
            until(lambda: ask(one.root) == 200)
            # One is killed with requests in flight: those are lost, the slots come back after the lease.
            doomed = [threads.submit(ask, one.root, STALLED) for _ in range(SLOTS)]
            until(lambda: redis.command("EVAL", _IN_FLIGHT, "0") == str(SLOTS))
            assert ask(other.root) == 429
            one.process.send_signal(signal.SIGKILL)
            assert all(each.result(SECONDS) in (0, 200) for each in doomed)
            until(lambda: ask(other.root) == 200)
            until(lambda: nodes_of(other).get("a") is not True)
        background.run(provider.stop())


def hello(root: str, key: str, model: str = MODEL, session: str = "") -> int:
    body = {"model": model, "messages": [{"role": "user", "content": "hello"}], "tools": [TOOL]}
    return fetch(f"{root}/v1/chat/completions", key, body, session=session)[0]


def test_a_key_that_is_made_changed_or_deleted_at_one_gateway_is_so_at_the_other(
    redis: RedisServer, postgres: PostgresServer, tmp_path: Path
) -> None:
    with Background() as background:
        provider = background.run(sim.start())
        store = postgres.new_database("changes")
        with (
            node(tmp_path / "a", "a", redis, provider.url, store=store) as one,
            node(tmp_path / "b", "b", redis, provider.url, store=store) as other,
        ):
            made = json.loads(fetch(f"{one.admin}/admin/v1/keys", ADMIN_KEY, {"name": "ada"})[1])
            page, text = f"{one.admin}/admin/v1/keys/{made['id']}", made["key"]
            until(lambda: hello(other.root, text) == 200)
            fetch(page, ADMIN_KEY, {"models": ["nothing"]}, method="PATCH")
            until(lambda: hello(other.root, text) == 403)
            fetch(page, ADMIN_KEY, method="DELETE")
            until(lambda: hello(other.root, text) == 401)
            metrics = fetch(f"{other.admin}/metrics", ADMIN_KEY)[1].decode()
            assert "\nmoongate_nodes 2\n" in metrics
            assert "\nmoongate_state_away 0\n" in metrics
        background.run(provider.stop())
    assert LOOK_SECONDS <= REACHES_ALL / 2  # each looks so often


def test_a_session_finds_the_same_target_at_every_gateway(redis: RedisServer, tmp_path: Path) -> None:
    """By quality: what one gateway has seen of a bad vendor moves sessions at both."""
    with Background() as background:
        vendors = [background.run(sim.start()), background.run(sim.start(play="valid-0-never-right"))]
        providers = [
            {
                "name": f"v{n}",
                "api_base_url": vendor.url,
                "api_key": PROVIDER_KEY,
                "models": [MODEL],
                "transformer": KIMI,
            }
            for n, vendor in enumerate(vendors)
        ]
        routes = {"best": {"targets": [f"v{n},{MODEL}" for n in range(2)], "strategy": "quality"}}
        settings = {"providers": providers, "routes": routes, "api_keys": [CLIENT_KEY]}
        with (
            node(tmp_path / "a", "a", redis, "", **settings) as one,
            node(tmp_path / "b", "b", redis, "", **settings) as other,
        ):
            until(lambda: all(nodes_of(each) == {"a": True, "b": True} for each in (one, other)))
            for number in range(20):  # seen by one of them alone
                hello(one.root, CLIENT_KEY, "best", f"earlier-{number}")
            until(lambda: answers_seen(other) >= 19)
            for number in range(20):
                for each in (one, other):
                    assert hello(each.root, CLIENT_KEY, "best", f"session-{number}") == 200
        by_session = [
            {entry.session for entry in vendor.vendor.ledger.entries if entry.session.startswith("session-")}
            for vendor in vendors
        ]
        assert not by_session[0] & by_session[1]
        assert len(by_session[0]) + len(by_session[1]) == 20
        assert len(by_session[0]) > len(by_session[1])
        for vendor in vendors:
            background.run(vendor.stop())


def answers_seen(running: RunningNode) -> float:
    """How many answers this gateway knows of, its own or those that another one has told of."""
    (route,) = json.loads(fetch(f"{running.admin}/admin/v1/routes?name=best", ADMIN_KEY)[1])["data"]
    return float(sum(target["answers"] for target in route["targets"]))


_IN_FLIGHT = """
local sum = 0
for _, key in ipairs(redis.call('KEYS', '*:leases')) do sum = sum + redis.call('ZCARD', key) end
return sum
"""
