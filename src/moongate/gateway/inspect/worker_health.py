"""How the workers of a node are: each writes now and then that it runs, beside its counters."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Final, NamedTuple

from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters

BEAT_SECONDS: Final = 2.0
SILENT_SECONDS: Final = 8.0
_PID: Final = "worker_pid\t\t"
_BEGAN: Final = "worker_began\t\t"
_SEEN: Final = "worker_seen\t\t"
_IN_FLIGHT: Final = "moongate_requests_in_flight\t\t"
_STREAMS: Final = "moongate_streams_open\t\t"
_STALL: Final = "moongate_loop_stall_seconds\t"


class WorkerHealth(NamedTuple):
    """Times are in seconds."""

    name: str
    pid: int
    is_alive: bool
    up: float
    in_flight: int
    streams: int
    stall: float


class Heartbeat:
    """`start` in the event loop of a worker."""

    def __init__(self, counters: SharedCounters) -> None:
        self._values = counters.values
        self._seen = counters.slot(_SEEN)
        self._timer: asyncio.TimerHandle | None = None
        self._values[counters.slot(_PID)] = os.getpid()
        self._values[counters.slot(_BEGAN)] = self._values[self._seen] = int(time.time() * 1e6)

    def start(self) -> None:
        self._values[self._seen] = int(time.time() * 1e6)
        self._timer = asyncio.get_running_loop().call_later(BEAT_SECONDS, self.start)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def workers_health(metrics: Metrics, now: float) -> list[WorkerHealth]:
    return [_health(name, dict(values), now) for name, values in metrics.slots.by_worker()]


def _health(name: str, values: dict[str, int], now: float) -> WorkerHealth:
    stall = max((value for key, value in values.items() if key.startswith(_STALL)), default=0)
    seen, began = values.get(_SEEN, 0) / 1e6, values.get(_BEGAN, 0) / 1e6
    return WorkerHealth(
        *(name, values.get(_PID, 0), now - seen < SILENT_SECONDS, max(0.0, now - began)),
        *(values.get(_IN_FLIGHT, 0), values.get(_STREAMS, 0), stall / 1e6),
    )
