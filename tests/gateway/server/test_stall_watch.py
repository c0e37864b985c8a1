from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

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


async def _hold(seconds: float) -> None:
    time.sleep(seconds)


def watched(seconds: float, reporter: StallReporter | None) -> tuple[list[int], object]:
    """Hold a loop for so long under a watch. Gives its heartbeats, and the task that held it."""
    heartbeats: list[int] = []

    async def run() -> object:
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
    assert 0.4 - HEARTBEAT_SECONDS - 0.01 <= seconds < 0.6
    assert requests == ["req_1"]
    assert task in stalls.tasks


def test_a_loop_that_is_free_reports_no_long_stall() -> None:
    stalls = Stalls()
    watched(0, stalls)
    assert all(seconds < 0.25 for seconds, _ in stalls.found)


def test_without_a_reporter_the_heartbeat_goes_on() -> None:
    heartbeats, _ = watched(0, None)
    assert len(heartbeats) >= 3
