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

from tests.support.background import Background
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY
from tests.support.redis_server import RedisServer

from moongate import sim

ADMIN_KEY = "canary-admin-0123456789-0123456789"
SLOTS = 4
LEASE = 3
SLOW, STALLED = "kimi-k2-sim-slow", "kimi-k2-sim-stalled"
SECONDS = 60


@dataclass
class RunningNode:
    process: subprocess.Popen[bytes]
    root: str
    admin: str


@contextlib.contextmanager
def node(folder: Path, name: str, redis: RedisServer, upstream: str) -> Iterator[RunningNode]:
    folder.mkdir()
    provider = {"name": "sim", "api_base_url": upstream, "api_key": PROVIDER_KEY, "models": [SLOW, STALLED]}
    config = {
        "providers": [provider],
        "api_keys": [{"key": CLIENT_KEY, "concurrency": SLOTS}],
        "state": {"url": redis.url, "node": name, "lease": LEASE, "deadline": 10},
        "admin": {"port": 0, "key": ADMIN_KEY},
        "log": {"format": "off"},
        "store": "off",
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


def fetch(url: str, key: str, body: object = None) -> tuple[int, bytes]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=SECONDS) as answer:
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


_IN_FLIGHT = """
local sum = 0
for _, key in ipairs(redis.call('KEYS', '*:leases')) do sum = sum + redis.call('ZCARD', key) end
return sum
"""
