"""What one worker remembers of its requests for the pages at `/ui`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moongate.gateway.config.inspect_settings import Inspect
from moongate.gateway.config.settings import Settings
from moongate.gateway.inspect.capture_store import CapturesInFolder, CapturesInMemory, CaptureStore
from moongate.gateway.inspect.inspector import CaptureBudget, Inspector
from moongate.gateway.inspect.recent_requests import RecentRequests
from moongate.gateway.inspect.worker_health import Heartbeat
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.request_ring import RequestRing, ring_size

BUDGET: Final = "captures-wanted"
CAPTURES: Final = "captures"


class WorkerInspection:
    """`ring` takes the lines of finished requests, `inspector` captures; `recent` is read by the pages."""

    def __init__(self, folder: Path | None, worker: int, workers: int, settings: Inspect, metrics: Metrics) -> None:
        """`folder` is shared by the workers; None: there is one."""
        size = ring_size(workers if folder is not None else 1)
        self.ring = RequestRing(folder, worker, size)
        self.recent = RecentRequests(self.ring, folder, worker, size)
        budget = CaptureBudget(None if folder is None else folder / BUDGET)
        self.heartbeat = Heartbeat(metrics.slots)
        self.inspector = Inspector(
            _store(folder, settings), budget, lost=lambda: metrics.count("moongate_captures_lost_total")
        )

    def start(self) -> None:
        """In the event loop of the worker."""
        self.heartbeat.start()
        self.inspector.start()

    @classmethod
    def of(cls, settings: Settings, folder: Path | None, worker: int, metrics: Metrics) -> WorkerInspection | None:
        """None: there are no pages that would show anything of it."""
        if settings.admin is None or not (settings.admin.key and settings.admin.ui):
            return None
        return cls(folder, worker, settings.workers, settings.inspect, metrics)


def _store(folder: Path | None, settings: Inspect) -> CaptureStore:
    if settings.folder:
        return CapturesInFolder(Path(settings.folder).expanduser(), settings.memory, settings.days)
    return CapturesInMemory(settings.memory) if folder is None else CapturesInFolder(folder / CAPTURES, settings.memory)
