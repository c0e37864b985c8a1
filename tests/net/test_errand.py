"""A coroutine that begins at once and goes on in the callback that wakes it; otherwise as a task."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import pytest
import uvloop

from moongate.net.errand import Errand, Waiter

Loop = asyncio.AbstractEventLoop
WHO = ContextVar("WHO", default="nobody")


class Ends:
    """What errands ended with, in order."""

    def __init__(self) -> None:
        self.all: list[BaseException | None] = []

    def __call__(self, error: BaseException | None) -> None:
        self.all.append(error)


def in_callback(action: Callable[[Loop, Ends], object], then: Callable[[Ends], Awaitable[None]] | None = None) -> Ends:
    """Run `action` as a socket's callback would run: in the loop, outside of any task."""
    ends = Ends()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        done = loop.create_future()

        def call() -> None:
            try:
                action(loop, ends)
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)

        loop.call_soon(call)
        await done
        if then is not None:
            await then(ends)

    uvloop.run(main())
    return ends


async def until_over(ends: Ends) -> None:
    while not ends.all:
        await asyncio.sleep(0)


def start(loop: Loop, coroutine: Coroutine[Any, Any, None], ends: Ends) -> Errand:
    errand = Errand(loop, coroutine, ends)
    errand.begin()
    return errand


def test_it_begins_at_once_and_goes_on_in_the_very_callback_that_wakes_it() -> None:
    said: list[str] = []

    def action(loop: Loop, ends: Ends) -> None:
        waiter = Waiter(loop)

        async def work() -> None:
            said.append("begun")
            await waiter
            said.append("woken")

        errand = start(loop, work(), ends)
        assert (said, errand.done()) == (["begun"], False)
        waiter.wake()
        assert (said, errand.done(), ends.all) == (["begun", "woken"], True, [None])
        waiter.wake()  # once is enough

    assert in_callback(action).all == [None]


def test_it_is_asyncios_current_task_while_it_runs_and_only_then() -> None:
    def action(loop: Loop, ends: Ends) -> None:
        seen: list[object] = []

        async def work() -> None:
            seen.append(asyncio.current_task())

        errand = start(loop, work(), ends)
        assert seen == [errand]
        assert asyncio.current_task(loop) is None

    in_callback(action)


def test_a_task_can_wait_for_a_waiter_too() -> None:
    async def main() -> None:
        waiter = Waiter(asyncio.get_running_loop())

        async def work() -> str:
            await waiter
            return "woken"

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        waiter.wake()
        assert await task == "woken"

    uvloop.run(main())


def test_timeouts_sleep_and_turns_of_the_loop_work_as_in_a_task() -> None:
    said: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0.001)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.get_running_loop().create_future()
        said.append("timed out")
        task = asyncio.create_task(asyncio.sleep(0.001, "slept"))
        said.append(await task)

    ends = in_callback(lambda loop, ends: start(loop, work(), ends), until_over)
    assert (said, ends.all) == (["timed out", "slept"], [None])


def test_what_it_raises_is_told() -> None:
    mistake = ValueError("a mistake")

    async def work() -> None:
        raise mistake

    assert in_callback(lambda loop, ends: start(loop, work(), ends)).all == [mistake]


def test_what_would_end_a_program_is_told_and_ends_it() -> None:
    ends = Ends()

    async def work() -> None:
        raise SystemExit(3)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(start, loop, work(), ends)
        await asyncio.sleep(5)

    with pytest.raises(SystemExit) as found:
        uvloop.run(main())
    assert (found.value.code, [type(error) for error in ends.all]) == (3, [SystemExit])


def test_what_it_sets_is_its_own_in_whatever_callback_it_goes_on() -> None:
    said: list[str] = []

    def action(loop: Loop, ends: Ends) -> None:
        async def work(name: str, waiter: Waiter) -> None:
            said.append(WHO.get())
            WHO.set(name)
            await waiter
            said.append(WHO.get())

        waiters = [Waiter(loop) for _ in "ab"]
        for name, waiter in zip("ab", waiters, strict=True):
            start(loop, work(name, waiter), ends)
        for waiter in reversed(waiters):
            waiter.wake()
        assert WHO.get() == "nobody"

    in_callback(action)
    assert said == ["nobody", "nobody", "b", "a"]


@pytest.mark.interpreted("refers weakly to an errand")
def test_who_keeps_books_on_tasks_can_keep_them_on_errands() -> None:
    def action(loop: Loop, ends: Ends) -> None:
        errand = start(loop, asyncio.sleep(0), ends)
        assert weakref.ref(errand)() is errand
        assert errand.get_name() == "errand"

    in_callback(action, until_over)


def test_a_cancellation_that_is_taken_back_while_it_runs_has_no_effect() -> None:
    def action(loop: Loop, ends: Ends) -> None:
        async def work() -> None:
            errand.cancel()
            errand.uncancel()
            await asyncio.sleep(0.001)

        errand = Errand(loop, work(), ends)
        errand.begin()

    assert in_callback(action, until_over).all == [None]


@pytest.mark.parametrize("kind", ["waiter", "future", "turn"])
def test_cancelled_where_it_waits_it_may_clean_up_and_go_on(kind: str) -> None:
    said: list[str] = []

    def action(loop: Loop, ends: Ends) -> None:
        waiter = Waiter(loop)

        async def work() -> None:
            try:
                await (waiter if kind == "waiter" else asyncio.sleep(0 if kind == "turn" else 60))
            except asyncio.CancelledError:
                said.append("cancelled")
                assert (errand.cancelling(), errand.uncancel(), errand.uncancel()) == (1, 0, 0)
            await asyncio.sleep(0)
            said.append("cleaned")

        errand = start(loop, work(), ends)
        assert errand.cancel()
        assert said == []  # not before the loop's next turn
        waiter.wake()  # comes too late

    ends = in_callback(action, until_over)
    assert (said, ends.all) == (["cancelled", "cleaned"], [None])


def test_a_cancellation_that_nobody_catches_is_told() -> None:
    def action(loop: Loop, ends: Ends) -> None:
        start(loop, asyncio.sleep(60), ends).cancel()

    (error,) = in_callback(action, until_over).all
    assert isinstance(error, asyncio.CancelledError)


def test_cancelled_while_it_runs_it_is_where_it_waits_next() -> None:
    said: list[str] = []

    def action(loop: Loop, ends: Ends) -> None:
        async def work() -> None:
            errand.cancel()
            said.append("goes on")
            await Waiter(loop)

        errand = Errand(loop, work(), ends)
        errand.begin()

    (error,) = in_callback(action, until_over).all
    assert isinstance(error, asyncio.CancelledError)
    assert said == ["goes on"]


def test_cancelled_before_it_begins_it_never_does() -> None:
    async def work() -> None:
        raise AssertionError

    def action(loop: Loop, ends: Ends) -> None:
        errand = Errand(loop, work(), ends)
        assert errand.cancel()
        errand.begin()
        assert errand.done()
        assert not errand.cancel()

    (error,) = in_callback(action).all
    assert isinstance(error, asyncio.CancelledError)


def test_cancelled_when_what_it_waited_for_has_come_it_is_cancelled_all_the_same() -> None:
    def action(loop: Loop, ends: Ends) -> None:
        future = loop.create_future()

        async def work() -> None:
            await future

        errand = start(loop, work(), ends)
        future.set_result(None)
        assert errand.cancel()

    (error,) = in_callback(action, until_over).all
    assert isinstance(error, asyncio.CancelledError)


def test_woken_by_a_task_it_goes_on_when_the_task_has_had_its_turn() -> None:
    said: list[str] = []
    waiters: list[Waiter] = []

    def action(loop: Loop, ends: Ends) -> None:
        waiters.append(Waiter(loop))

        async def work() -> None:
            await waiters[0]
            said.append("woken")

        start(loop, work(), ends)

    async def then(ends: Ends) -> None:
        waiters[0].wake()
        assert said == []
        await until_over(ends)

    assert in_callback(action, then).all == [None]
    assert said == ["woken"]
