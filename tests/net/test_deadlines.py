"""The deadline timer with a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import cast

from moongate.net.deadlines import DeadlineTimer


class Timer:
    def __init__(self, due: float, call: Callable[[], None]) -> None:
        self.due = due
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    """The part of an event loop that the timer needs."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.seconds

    def call_at(self, due: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(due, call))
        return self.timers[-1]

    def go(self, seconds: float) -> None:
        self.seconds = seconds
        for timer in list(self.timers):
            if timer.due <= seconds:
                self.timers.remove(timer)
                if not timer.cancelled:
                    timer.call()


def alarm(clock: Clock, rings: list[float]) -> DeadlineTimer:
    return DeadlineTimer(cast(asyncio.AbstractEventLoop, clock), lambda: rings.append(clock.seconds))


def test_it_fires_once_when_due() -> None:
    clock, rings = Clock(), list[float]()
    alarm(clock, rings).set(5)
    clock.go(4)
    assert rings == []
    clock.go(5)
    clock.go(99)
    assert rings == [5]


def test_postponing_needs_no_timer() -> None:
    clock, rings = Clock(), list[float]()
    bell = alarm(clock, rings)
    for second in range(1000):
        bell.set(5 + second / 1000)
    assert len(clock.timers) == 1
    clock.go(5)
    assert rings == []
    assert len(clock.timers) == 1
    clock.go(6)
    assert rings == [6]


def test_an_earlier_deadline_moves_the_timer() -> None:
    clock, rings = Clock(), list[float]()
    bell = alarm(clock, rings)
    bell.set(100)
    bell.set(2)
    clock.go(2)
    clock.go(100)
    assert rings == [2]


def test_never() -> None:
    clock, rings = Clock(), list[float]()
    bell = alarm(clock, rings)
    bell.set(inf)
    assert clock.timers == []
    bell.set(3)
    bell.set(inf)
    clock.go(9)
    assert (rings, clock.timers) == ([], [])


def test_stopped() -> None:
    clock, rings = Clock(), list[float]()
    bell = alarm(clock, rings)
    bell.stop()
    bell.set(3)
    bell.stop()
    clock.go(9)
    assert rings == []
