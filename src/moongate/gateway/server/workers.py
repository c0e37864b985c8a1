"""Worker processes, forked from a parent that only supervises them: it replaces those that die or hang."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from moongate.gateway.http.internal_errors import kind_and_place
from moongate.gateway.record.messages import print_message
from moongate.gateway.server.observer import ServerObserver
from moongate.gateway.server.worker_reports import WorkerReports

# Of what is missing on Windows, and on macOS the wait for a signal: there one worker serves without a parent.
CAN_SUPERVISE: Final = hasattr(os, "fork") and hasattr(signal, "sigtimedwait")
DRAIN: Final = signal.SIGTERM
# Not a second SIGTERM: a service manager sends the first to every process.
FORCE: Final[signal.Signals] = getattr(signal, "SIGUSR2", signal.SIGTERM)
ORPHANED: Final[signal.Signals] = getattr(
    signal, "SIGUSR1", signal.SIGTERM
)  # sent by a worker to itself: its parent died
RELOAD: Final[signal.Signals | None] = getattr(signal, "SIGHUP", None)
WATCHED: Final = {
    number
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGCHLD", "SIGUSR1", "SIGUSR2")
    if isinstance(number := getattr(signal, name, None), signal.Signals)
}
MIN_UPTIME: Final = 1.0  # seconds; a worker that lives shorter has failed to start
MAX_FAILED_STARTS: Final = 5  # in a row; then the parent gives up
SILENT_SECONDS: Final = 10.0  # a worker whose loop did not run for so long is ended
START_SECONDS: Final = 60.0  # the same for one that has not begun to serve
KILL_SECONDS: Final = 2.0  # from the signal that asks a silent worker to end to the one that ends it
FORCE_SECONDS: Final = 5.0  # from the second SIGTERM to the end of every worker
CHECK_SECONDS: Final = 0.5  # between two looks at the workers


def print_error(text: str) -> None:
    """Write one line to standard error, in one write, because several processes share it."""
    print_message(text)


class Work(Protocol):
    """What a worker's process does; returns its exit code. `replaces`: another worker was in its place."""

    def __call__(self, index: int, *, replaces: bool) -> int: ...


@dataclass(slots=True)
class _Worker:
    index: int
    since: float  # when it was started
    asked_to_end: bool = False  # because it was silent


class _Workers:
    """The running workers by process id."""

    def __init__(self, work: Work, reports: WorkerReports, silence: float) -> None:
        self._work = work
        self._reports = reports
        self._silence = silence
        self._read_end, self._write_end = os.pipe()  # the workers read EOF when the parent dies
        self._running: dict[int, _Worker] = {}
        self._failed_starts = 0
        self._last_check = time.monotonic()
        self._counted_from = 0.0  # silence before this moment does not count
        self._kill_at: float | None = None  # when those that are left are ended
        self.failed = False

    def __bool__(self) -> bool:
        return bool(self._running)

    def start(self, index: int, *, replaces: bool = False) -> None:
        self._reports.reset(index)
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _run_worker(lambda: self._work(index, replaces=replaces), index, self._read_end, self._write_end)
        self._running[pid] = _Worker(index, time.monotonic())

    def signal(self, number: int) -> None:
        for pid in self._running:
            os.kill(pid, number)  # not reaped yet, so the pid is not reused

    def stop(self, *, at_once: bool) -> None:
        """Let all of them drain; `at_once`: end them, those that do not obey by force."""
        self.signal(FORCE if at_once else DRAIN)
        if at_once and self._kill_at is None:
            self._kill_at = time.monotonic() + FORCE_SECONDS

    def reap(self, *, stopping: bool) -> list[int]:
        """The indexes of the workers that have died since the last call."""
        dead = []
        while self._running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            worker = self._running.pop(pid)
            failed_start = time.monotonic() - worker.since < MIN_UPTIME
            self._failed_starts = self._failed_starts + 1 if failed_start else 0
            self.failed = self.failed or status != 0 if stopping else self._failed_starts >= MAX_FAILED_STARTS
            dead.append(worker.index)
        return dead

    def end_silent(self) -> None:
        """End the workers whose loop has not run for too long; SIGKILL ends one that is stuck in C code, too."""
        now = time.monotonic()
        if now - self._last_check > CHECK_SECONDS + 1:  # we were stopped ourselves, and they with us
            self._counted_from = now
        self._last_check = now
        if self._kill_at is not None and now > self._kill_at:
            self.signal(signal.SIGKILL)
            return
        for pid, worker in self._running.items():
            last_heartbeat = self._reports.last_heartbeat(worker.index)
            limit = START_SECONDS if last_heartbeat is None else self._silence
            silent = now - max(last_heartbeat or worker.since, self._counted_from)
            if silent > limit + KILL_SECONDS:
                os.kill(pid, signal.SIGKILL)
            elif silent > limit and not worker.asked_to_end:
                worker.asked_to_end = True
                print_error(f"worker {worker.index} has answered nobody for {silent:.0f} s and is ended")
                os.kill(pid, DRAIN)


def supervise(
    work: Work,
    reports: WorkerReports,
    count: int,
    observer: ServerObserver,
    *,
    silence: float = SILENT_SECONDS,
) -> int:
    """Run `work(0)` … `work(count - 1)` in processes until a signal stops them; returns the exit code.

    A worker that does not write to its report for `silence` seconds is replaced. `observer` is told about all of them
    together.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    try:
        workers = _Workers(work, reports, silence)
        for index in range(count):
            workers.start(index)
        progress = _WorkerProgress(reports, observer)
        stopping = False
        while workers:
            received = signal.sigtimedwait(WATCHED, progress.next_check())
            number = None if received is None else received.si_signo
            if number == signal.SIGHUP:
                progress.reload()
                workers.signal(signal.SIGHUP)
            elif number in (signal.SIGTERM, signal.SIGINT):
                workers.stop(at_once=stopping)
                stopping = True
                observer.stopping()
            elif number == signal.SIGCHLD:
                dead = workers.reap(stopping=stopping)
                if not stopping:
                    stopping = _replace(workers, dead)
            workers.end_silent()
            progress.report(stopping=stopping)
        return int(workers.failed)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _WorkerProgress:
    """Tells the observer when all workers have started, and when all have reloaded."""

    def __init__(self, reports: WorkerReports, observer: ServerObserver) -> None:
        self._reports = reports
        self._observer = observer
        self._started = False
        self._reloads: list[int] | None = None  # those before the reload that is under way
        self._reload_until = 0.0

    def next_check(self) -> float:
        """Seconds to wait for a signal."""
        return CHECK_SECONDS if self._started and self._reloads is None else CHECK_SECONDS / 10

    def reload(self) -> None:
        self._observer.reloading()
        self._reloads = self._reports.reloads()
        self._reload_until = time.monotonic() + START_SECONDS

    def report(self, *, stopping: bool) -> None:
        self._observer.heartbeat()
        if not self._started and self._reports.all_started() and not stopping:
            self._started = True
            self._observer.ready()
        if self._reloads is not None:
            done = all(new > old for new, old in zip(self._reports.reloads(), self._reloads, strict=True))
            if done or time.monotonic() > self._reload_until:
                self._reloads = None
                self._observer.reloaded()


def _replace(workers: _Workers, dead: list[int]) -> bool:
    """Start replacements for dead workers. True: starting fails again and again, all are told to stop."""
    if workers.failed:
        print_error("the workers die at once; giving up")
        workers.signal(DRAIN)
        return True
    for index in dead:
        print_error(f"worker {index} died and is replaced")
        workers.start(index, replaces=True)
    return False


def _run_worker(work: Callable[[], int], index: int, read_end: int, write_end: int) -> None:
    """Runs in the child, and never returns.

    Signals stay blocked until `unblock_signals`, so that none is lost, or ends the process, while the worker starts.
    """
    code = 1
    try:
        os.close(write_end)
        threading.Thread(target=_exit_with_parent, args=(read_end,), daemon=True).start()
        code = work()
    except BaseException as error:  # the outermost frame; the exception's text may hold a secret
        print_error(f"worker {index} failed: {kind_and_place(error)}")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def unblock_signals() -> None:
    """To be called when the signal handlers are installed: signals that arrived before are delivered now."""
    if CAN_SUPERVISE:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)


def _exit_with_parent(read_end: int) -> None:
    os.read(read_end, 1)  # returns when the parent has died
    os.kill(os.getpid(), ORPHANED)
