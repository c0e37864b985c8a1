"""Limits of client keys over the workers of a real gateway."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cli.served import ASK, CLIENT, PATH, config, serving, write
from tests.gateway.scripted import Asked, Scripted, forever, whole
from tests.support.http import post


def statuses(root: str, count: int) -> Counter[int]:
    """Each request on a connection of its own, so that the kernel spreads them over the workers."""
    with ThreadPoolExecutor(8) as pool:
        return Counter(reply.status for reply in pool.map(lambda _: post(root + PATH, ASK, key=CLIENT), range(count)))


@pytest.mark.parametrize("workers", ["1", "4"])
def test_a_rate_holds_over_all_workers(tmp_path: Path, upstream: Scripted, workers: str) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream, api_keys=[{"key": CLIENT, "rate": 60}]))
    with serving(tmp_path, "--workers", workers) as served:
        began = time.monotonic()
        found = statuses(served.root(), 150)
        refilled = int(time.monotonic() - began) + 1  # one per second
        assert set(found) == {200, 429}
        assert 60 <= found[200] <= 60 + refilled


def test_concurrency_holds_over_all_workers_and_heals_when_one_is_killed(tmp_path: Path, upstream: Scripted) -> None:
    async def play(asked: Asked) -> None:
        await (forever(asked) if asked.json.get("stream") else whole(asked))

    upstream.play = play
    upstream.seen.clear()
    write(tmp_path, config(upstream, api_keys=[{"key": CLIENT, "concurrency": 8}]))
    with serving(tmp_path, "--workers", "4") as served, ThreadPoolExecutor(40) as pool:
        root = served.root()
        streams = [pool.submit(post, root + PATH, ASK | {"stream": True}, key=CLIENT) for _ in range(40)]
        _until(lambda: sum(each.done() for each in streams) == 32)
        assert {each.result().status for each in streams if each.done()} == {429}
        _until(lambda: len(upstream.seen) == 8)
        assert post(root + PATH, ASK, key=CLIENT).status == 429
        for pid in _children(served.process.pid):
            os.kill(pid, signal.SIGKILL)
        # Each successor gives back the places of the worker that it replaces.
        _until(lambda: statuses(root, 40) == Counter({200: 40}))


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _until(condition: object, seconds: float = 60) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except OSError:  # a worker that was killed has taken the connection with it
            pass
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")
