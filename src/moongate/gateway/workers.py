"""Several processes: forked from a parent that does nothing but watch them."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

from moongate.gateway.mistakes import kind_and_place

DRAIN: Final = signal.SIGTERM
FORCE: Final = signal.SIGUSR2  # a second SIGTERM will not do: a service manager sends the first to us all
WATCHED: Final = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, FORCE}
QUICK: Final = 1.0  # a worker that lives less long has failed to start
MAX_QUICK: Final = 5  # such deaths in a row: give up


def say(text: str) -> None:
    """Tell the operator, in one write: several processes share this place."""
    sys.stderr.write(f"moongate: {text}\n")
    sys.stderr.flush()


class _Workers:
    """Who runs which part, and since when."""

    def __init__(self, work: Callable[[int], int]) -> None:
        self._work = work
        self._alive, self._lifeline = os.pipe()  # the workers see the end of it when the parent dies
        self._born: dict[int, tuple[int, float]] = {}
        self._quick_deaths = 0
        self.failed = False

    def __bool__(self) -> bool:
        return bool(self._born)

    def start(self, index: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _be_worker(self._work, index, self._alive, self._lifeline)
        self._born[pid] = (index, time.monotonic())

    def tell(self, number: int) -> None:
        for pid in self._born:
            os.kill(pid, number)  # not reaped yet, so the number is still theirs

    def reap(self, *, stopping: bool) -> list[int]:
        """The parts of those who have died since the last time."""
        dead = []
        while self._born:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            index, since = self._born.pop(pid)
            quick = time.monotonic() - since < QUICK
            self._quick_deaths = self._quick_deaths + 1 if quick else 0
            self.failed = self.failed or status != 0 if stopping else self._quick_deaths >= MAX_QUICK
            dead.append(index)
        return dead


def supervise(work: Callable[[int], int], count: int) -> int:
    """Run `work(0)` … `work(count - 1)` in processes until told to stop; gives the exit code."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    try:
        workers = _Workers(work)
        for index in range(count):
            workers.start(index)
        stopping = False
        while workers:
            number = signal.sigwaitinfo(WATCHED).si_signo
            if number == signal.SIGHUP:
                workers.tell(signal.SIGHUP)
            elif number in (signal.SIGTERM, signal.SIGINT):
                workers.tell(FORCE if stopping else DRAIN)
                stopping = True
            elif number == signal.SIGCHLD:
                dead = workers.reap(stopping=stopping)
                if not stopping:
                    stopping = _replace(workers, dead)
        return int(workers.failed)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _replace(workers: _Workers, dead: list[int]) -> bool:
    """Start successors of the dead. True: there is no hope, all are to stop."""
    if workers.failed:
        say("the workers die at once; giving up")
        workers.tell(DRAIN)
        return True
    for index in dead:
        say(f"worker {index} died and is replaced")
        workers.start(index)
    return False


def _be_worker(work: Callable[[int], int], index: int, alive: int, lifeline: int) -> None:
    """Never returns: what the parent was doing is not for us to go on with.

    Signals stay blocked until `listen_to_signals`, so that none is lost, or deadly, while the worker starts.
    """
    code = 1
    try:
        os.close(lifeline)
        threading.Thread(target=_outlive_nobody, args=(alive,), daemon=True).start()
        code = work(index)
    except BaseException as error:  # nobody is above us; its words may hold a secret
        say(f"worker {index} failed: {kind_and_place(error)}")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def listen_to_signals() -> None:
    """In a worker that has its signal handlers: take what has come since its birth, and what comes."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)


def _outlive_nobody(alive: int) -> None:
    os.read(alive, 1)  # returns when the parent is gone
    os.kill(os.getpid(), DRAIN)
