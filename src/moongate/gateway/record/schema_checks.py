"""Checks the calls of some answers against their tools' schemas, in one thread beside the event loop.

An answer is checked when it has left, so no client waits for it. What waits is limited: beyond that an answer is
counted as it is, without the check.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import random
from typing import Final

from moongate.chat.verdict import Verdict
from moongate.gateway.record.metrics import Metrics

MAX_WAITING: Final = 256  # answers that wait for the thread


class SchemaChecks:
    """`share` of the answers are checked, those of routes that choose by quality all."""

    def __init__(self, metrics: Metrics, draw: Callable[[], float] = random) -> None:
        self._metrics = metrics
        self._draw = draw
        self._pool: ThreadPoolExecutor | None = None
        self._waiting = 0
        self._skipped = metrics.counter("moongate_schema_checks_skipped_total")

    def wants(self, share: float) -> bool:
        """Is this answer among those that are checked?"""
        return share >= 1 or (share > 0 and self._draw() < share)

    def run(self, check: Callable[[], Verdict], done: Callable[[Verdict | None], None]) -> None:
        """Call `done` on the event loop with the verdict of `check`; with None if it could not be made."""
        if self._waiting >= MAX_WAITING:
            self._metrics.values[self._skipped] += 1
            done(None)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "schema-checks")
        self._waiting += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, check)
        future.add_done_callback(lambda found: self._finish(found, done))

    def close(self) -> None:
        """Checks that have not begun are dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _finish(self, found: asyncio.Future[Verdict], done: Callable[[Verdict | None], None]) -> None:
        self._waiting -= 1
        failed = found.cancelled() or found.exception() is not None  # a transformer from outside may raise anything
        if failed:
            self._metrics.values[self._skipped] += 1
        done(None if failed else found.result())
