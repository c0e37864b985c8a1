"""Writes the lines of the access log in a thread, so that a full pipe or a slow disk blocks nothing.

Lines that cannot be written are lost and counted. The operator is told when that begins; when lines can be written
again, the first of them says how many are missing.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Final

from moongate.gateway.record.messages import can_write

MAX_WAITING_LINES: Final = 20_000
MAX_WAITING_BYTES: Final = 64 << 20  # a log with bodies has long lines
POLL_SECONDS: Final = 1.0


class LogWriter:
    """`write` from the event loop. `missing(n)` makes the line that says how many lines were lost."""

    def __init__(self, descriptor: int, missing: Callable[[int], bytes], warn: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._missing = missing
        self._warn = warn
        self._blocks: queue.SimpleQueue[tuple[bytes, int, int] | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        # Each number is changed by one thread alone.
        self._given_lines = self._given_bytes = 0  # to the thread
        self._refused = 0  # lines that were not given to it, because too many wait
        self._taken_lines = self._taken_bytes = 0  # by the thread
        self._failed = 0  # lines that it could not write
        self._abandoned = 0  # lines that still waited when the gateway ended
        self._reported = 0  # lost lines that the log mentions
        self._is_failing = self._is_cut = False  # the last write failed; it left a part of a line

    @property
    def lost(self) -> int:
        """Lines that were lost so far."""
        return self._refused + self._failed + self._abandoned

    @property
    def waiting(self) -> int:
        """Lines that wait for the thread, or that it is about to write."""
        return self._given_lines - self._taken_lines

    @property
    def waiting_bytes(self) -> int:
        return self._given_bytes - self._taken_bytes

    def write(self, block: bytes, lines: int) -> None:
        if self.waiting + lines > MAX_WAITING_LINES or self.waiting_bytes > MAX_WAITING_BYTES:
            self._refused += lines
            return
        if self._worker is None:
            self._worker = threading.Thread(target=self._run, name="access-log", daemon=True)
            self._worker.start()
        self._given_lines += lines
        self._given_bytes += len(block)
        self._blocks.put((block, lines, self._refused))

    def close(self, seconds: float) -> None:
        """Write the rest, but wait no longer than `seconds` for it: what nobody has taken by then is lost."""
        if self._worker is None:
            return
        self._blocks.put(None)
        self._worker.join(seconds)
        self._abandoned = self.waiting
        if self._abandoned:
            self._warn(f"nobody reads the access log: its last lines are lost, up to {self._abandoned} of them")

    def _run(self) -> None:
        while (waiting := self._blocks.get()) is not None:
            block, lines, refused = waiting
            lost = refused + self._failed  # before these lines
            if lost > self._reported:
                block = self._missing(lost - self._reported) + block
            try:
                self._write(b"\n" + block if self._is_cut else block)
            except OSError as error:
                self._failed += lines
                if not self._is_failing:
                    self._is_failing = True
                    self._warn(f"the access log cannot be written: {error.strerror}; its lines are lost until it can")
            else:
                self._reported, self._is_failing = lost, False
            self._taken_lines += lines
            self._taken_bytes += len(waiting[0])

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                # Not in one expression: mypyc evaluates the bound of a slice twice, which would write twice.
                written = os.write(self._descriptor, view)
            except BlockingIOError:  # another process has made the pipe non-blocking
                can_write(self._descriptor, POLL_SECONDS)
                continue
            self._is_cut = view[written - 1] != ord("\n")
            view = view[written:]
