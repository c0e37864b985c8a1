from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from moongate.gateway.server.stall_watch import HEARTBEAT_SECONDS, StallReporter, StallWatch


class Stalls:
    """Keeps what is reported."""

    def __init__(self) -> None:
        self.found: list[tuple[float, Sequence[str]]] = []
        self.tasks: list[object] = []

    def running_requests(self, task: object) -> Sequence[str]:
        self.tasks.append(task)
        return ["req_1"]

    def record_stall(self, seconds: float, requests: Sequence[str]) -> None:
        self.found.append((seconds, requests))


async def _hold(seconds: float) -> float:
    """How long it was in fact: a busy machine may wake it late."""
    began = time.monotonic()
    time.sleep(seconds)
    return time.monotonic() - began


def watched(seconds: float, reporter: StallReporter | None) -> tuple[list[int], asyncio.Task[float]]:
    """Hold a loop for so long under a watch. Gives its heartbeats, and the task that held it."""
    heartbeats: list[int] = []

    async def run() -> asyncio.Task[float]:
        watch = StallWatch(reporter, lambda: heartbeats.append(1), look_seconds=0.02)
        watch.start()
        await asyncio.sleep(0.2)
        task = asyncio.create_task(_hold(seconds))
        await task
        await asyncio.sleep(0.1)
        watch.stop()
        return task

    return heartbeats, asyncio.run(run())


def test_a_stall_is_measured_and_its_task_found_while_it_lasts() -> None:
    stalls = Stalls()
    _, task = watched(0.4, stalls)
    seconds, requests = max(stalls.found, key=lambda each: each[0])
    assert task.result() - HEARTBEAT_SECONDS - 0.01 <= seconds < task.result() + 0.3
    assert requests == ["req_1"]
    assert task in stalls.tasks


def test_a_loop_that_is_free_reports_no_long_stall() -> None:
    longest = []
    for _ in range(3):  # a busy machine may hold the whole process
        stalls = Stalls()
        watched(0, stalls)
        longest.append(max((seconds for seconds, _ in stalls.found), default=0.0))
        if longest[-1] < 0.25:
            return
    pytest.fail(f"stalls of a loop that was free: {longest}")


def test_without_a_reporter_the_heartbeat_goes_on() -> None:
    heartbeats, _ = watched(0, None)
    assert len(heartbeats) >= 3
