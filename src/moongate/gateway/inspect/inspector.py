"""Decides which requests are captured, and stores their captures, without secrets, in a thread of its own."""

from __future__ import annotations

import asyncio
import mmap
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moongate.gateway.file_lock import lock_file, unlock_file
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.inspect.capture import Capture
from moongate.gateway.inspect.capture_document import capture_document
from moongate.gateway.inspect.capture_store import SWEEP_SECONDS, CaptureStore
from moongate.gateway.inspect.capturing import CapturingResponseWriter
from moongate.gateway.record.log_lines import Entry
from moongate.payload import dumps

if TYPE_CHECKING:
    from moongate.gateway.http.auth import Client
    from moongate.gateway.http.request_handler import RequestHandler

MAX_WAITING: Final = 32  # captures that wait for the thread; further ones are lost
MAX_WANTED: Final = 1000  # requests that may wait to be captured


class CaptureBudget:
    """How many of the next requests are captured, by whichever worker gets them. `path` None: there is one worker."""

    def __init__(self, path: Path | None = None) -> None:
        self._descriptor = -1
        if path is None:
            area = mmap.mmap(-1, mmap.PAGESIZE)
        else:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            os.ftruncate(self._descriptor, mmap.PAGESIZE)
            area = mmap.mmap(self._descriptor, mmap.PAGESIZE)
        self._left = memoryview(area)[:8].cast("q")

    @property
    def left(self) -> int:
        return self._left[0]

    def set(self, requests: int) -> None:
        self._left[0] = max(0, min(requests, MAX_WANTED))

    def take(self) -> bool:
        """Is this request one of them? Costs nothing while there are none."""
        if self._left[0] <= 0:
            return False
        if self._descriptor >= 0:
            lock_file(self._descriptor, wait=True)  # held for an addition
        taken = self._left[0] > 0
        self._left[0] -= taken
        if self._descriptor >= 0:
            unlock_file(self._descriptor)
        return taken


class Inspector:
    """One worker's. `start`, `begin` and `finish` in the event loop."""

    def __init__(self, store: CaptureStore, budget: CaptureBudget, *, lost: Callable[[], None]) -> None:
        self.store = store
        self.budget = budget
        self._lost = lost  # called for each capture that could not be stored
        self._executor: ThreadPoolExecutor | None = None
        self._waiting = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Have captures removed that are too old, also if no more are made."""
        if self.store.days:
            self._worker().submit(self.store.sweep)
            self._timer = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self.start)

    def begin(self, handler: RequestHandler, client: Client) -> None:
        """Capture the request, if it is to be captured."""
        if handler.state.inspect_all or client.inspected or self.budget.take():
            agent = handler.headers.get(b"user-agent", b"").decode("latin-1")
            handler.capture = Capture(handler.id.decode(), agent, handler.started_at)
            handler.writer = CapturingResponseWriter(handler.writer, handler.capture)

    def finish(self, capture: Capture, entry: Entry, redactor: Redactor) -> None:
        """Store it; it can be read a moment later."""
        if self._waiting >= MAX_WAITING:
            self._lost()
            return
        self._waiting += 1
        self._worker().submit(self._store, capture, entry, redactor).add_done_callback(self._done)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._executor is not None:
            self._executor.shutdown(wait=True)

    def _worker(self) -> ThreadPoolExecutor:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "captures")
        return self._executor

    def _store(self, capture: Capture, entry: Entry, redactor: Redactor) -> None:
        self.store.add(capture.id, dumps(capture_document(capture, entry, redactor)))

    def _done(self, future: object) -> None:
        self._waiting -= 1
