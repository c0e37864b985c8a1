"""One interface: each test runs with the eager tasks and with their stand-in over asyncio, on uvloop and on asyncio."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextvars import ContextVar

import pytest
from tests.aio.conftest import Loop, Results

from moongate.aio.tasks import EAGER, LOOP, TaskSupport, WakeableFuture, choose

NAME = ContextVar("NAME", default="nobody")
InCallback = Callable[..., Results]


def test_the_eager_tasks_are_chosen_if_they_are_wanted_and_work() -> None:
    assert choose(fast=True, works=lambda: True) is EAGER
    assert choose(fast=True, works=lambda: False) is LOOP
    assert choose(fast=False, works=lambda: True) is LOOP


@pytest.mark.parametrize(("value", "chosen"), [("1", "EAGER"), ("0", "LOOP")])
def test_the_environment_chooses_at_import(value: str, chosen: str) -> None:
    program = f"from moongate.aio import tasks; assert tasks.TASKS is tasks.{chosen}"
    path = ":".join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", program], env={"MOONGATE_FAST": value, "PYTHONPATH": path}, check=False
    )
    assert done.returncode == 0


def test_a_task_runs_and_waits_for_a_future(support: TaskSupport, in_callback: InCallback) -> None:
    steps: list[str] = []

    def action(loop: Loop, results: Results) -> None:
        future = support.new_future(loop)

        async def work() -> None:
            steps.append("started")
            await future
            steps.append("woken")

        support.new_task(loop, work(), results).start()
        loop.call_later(0.001, future.wake)
        loop.call_later(0.001, future.wake)  # no effect

    assert in_callback(action).all == [None]
    assert steps == ["started", "woken"]


def test_a_future_that_is_done_is_not_waited_for(support: TaskSupport, in_callback: InCallback) -> None:
    def action(loop: Loop, results: Results) -> None:
        future = support.new_future(loop)
        future.wake()

        async def work() -> None:
            await future

        support.new_task(loop, work(), results).start()

    assert in_callback(action).all == [None]


def test_an_asyncio_task_can_wait_for_the_future_too(support: TaskSupport, in_callback: InCallback) -> None:
    def action(loop: Loop, results: Results) -> None:
        future = support.new_future(loop)

        async def work() -> None:
            await future
            results(None)

        task = loop.create_task(work())
        loop.call_later(0.001, future.wake)
        loop.call_later(0.002, task.get_name)  # keeps a reference

    assert in_callback(action).all == [None]


def test_an_asyncio_task_that_waits_can_be_cancelled(support: TaskSupport, in_callback: InCallback) -> None:
    def action(loop: Loop, results: Results) -> None:
        future = support.new_future(loop)

        async def work() -> None:  # a task that is cancelled before it begins never waits
            loop.call_later(0.001, lambda: task.cancel())
            loop.call_later(0.001, future.wake)
            try:
                await future
            except asyncio.CancelledError as error:
                results(error)

        task = loop.create_task(work())

    (error,) = in_callback(action).all
    assert isinstance(error, asyncio.CancelledError)


def test_timeouts_sleep_and_other_tasks_work_inside(support: TaskSupport, in_callback: InCallback) -> None:
    steps: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0.001)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.get_running_loop().create_future()
        steps.append("timed out")
        steps.append(await asyncio.create_task(asyncio.sleep(0.001, "slept")))

    assert in_callback(lambda loop, results: support.new_task(loop, work(), results).start()).all == [None]
    assert steps == ["timed out", "slept"]


def test_what_the_coroutine_raises_is_reported(support: TaskSupport, in_callback: InCallback) -> None:
    error = ValueError("a bug")

    async def work() -> None:
        raise error

    assert in_callback(lambda loop, results: support.new_task(loop, work(), results).start()).all == [error]


@pytest.mark.parametrize("waits", [False, True])
def test_what_ends_a_program_ends_it(support: TaskSupport, in_callback: InCallback, waits: bool) -> None:
    async def work() -> None:
        if waits:
            await asyncio.sleep(0.001)
        raise SystemExit(3)

    async def then(_: Results) -> None:
        await asyncio.sleep(5)

    with pytest.raises(SystemExit) as found:
        in_callback(lambda loop, results: support.new_task(loop, work(), results).start(), then)
    assert found.value.code == 3


def test_context_variables_are_the_tasks_own(support: TaskSupport, in_callback: InCallback) -> None:
    seen: list[str] = []

    def action(loop: Loop, results: Results) -> None:
        async def work(name: str, future: WakeableFuture) -> None:
            seen.append(NAME.get())
            NAME.set(name)
            await future
            seen.append(NAME.get())

        futures = [support.new_future(loop) for _ in "ab"]
        for name, future in zip("ab", futures, strict=True):
            support.new_task(loop, work(name, future), results).start()
        for index, future in enumerate(reversed(futures)):
            loop.call_later(0.001 + index / 100, future.wake)
        assert NAME.get() == "nobody"

    async def then(results: Results) -> None:
        while len(results.all) < 2:
            await asyncio.sleep(0.001)

    in_callback(action, then)
    assert seen == ["nobody", "nobody", "b", "a"]


@pytest.mark.interpreted("refers weakly to a task")
def test_a_task_can_be_referred_to_weakly(support: TaskSupport, in_callback: InCallback) -> None:
    def action(loop: Loop, results: Results) -> None:
        task = support.new_task(loop, asyncio.sleep(0), results)
        task.start()
        assert weakref.ref(task)() is task

    in_callback(action)


def test_a_cancellation_that_is_taken_back_while_the_task_runs(support: TaskSupport, in_callback: InCallback) -> None:
    def action(loop: Loop, results: Results) -> None:
        async def work() -> None:
            task.cancel()
            assert task.uncancel() == 0
            await asyncio.sleep(0.001)

        task = support.new_task(loop, work(), results)
        task.start()

    (error,) = in_callback(action).all
    # Before Python 3.13 the cancellation of an asyncio.Task, once requested, could not be taken back.
    assert error is None or (support is LOOP and sys.version_info < (3, 13))


@pytest.mark.parametrize("kind", ["wakeable", "future", "turn"])
def test_a_cancelled_task_may_clean_up_and_continue(support: TaskSupport, in_callback: InCallback, kind: str) -> None:
    steps: list[str] = []

    def action(loop: Loop, results: Results) -> None:
        future = support.new_future(loop)

        async def work() -> None:
            try:
                await (future if kind == "wakeable" else asyncio.sleep(0 if kind == "turn" else 60))
            except asyncio.CancelledError:
                steps.append("cancelled")
                assert (task.uncancel(), task.uncancel()) == (0, 0)
            await asyncio.sleep(0)
            steps.append("cleaned")

        def cancel() -> None:
            assert task.cancel()
            assert steps == []  # not before the loop's next turn
            future.wake()  # too late

        task = support.new_task(loop, work(), results)
        task.start()
        loop.call_soon(cancel) if support is LOOP else cancel()

    assert in_callback(action).all == [None]
    assert steps == ["cancelled", "cleaned"]


def test_a_cancellation_that_is_not_caught_is_reported(support: TaskSupport, in_callback: InCallback) -> None:
    def action(loop: Loop, results: Results) -> None:
        task = support.new_task(loop, asyncio.sleep(60), results)
        task.start()
        task.cancel()

    (error,) = in_callback(action).all
    assert isinstance(error, asyncio.CancelledError)


def test_a_task_that_cancels_itself_is_cancelled_at_its_next_wait(
    support: TaskSupport, in_callback: InCallback
) -> None:
    steps: list[str] = []

    def action(loop: Loop, results: Results) -> None:
        async def work() -> None:
            task.cancel()
            steps.append("continues")
            await support.new_future(loop)

        task = support.new_task(loop, work(), results)
        task.start()

    (error,) = in_callback(action).all
    assert isinstance(error, asyncio.CancelledError)
    assert steps == ["continues"]


def test_cancelled_after_the_future_is_done_it_is_cancelled_all_the_same(
    support: TaskSupport, in_callback: InCallback
) -> None:
    def action(loop: Loop, results: Results) -> None:
        future = loop.create_future()

        async def work() -> None:
            await future

        def finish_and_cancel() -> None:
            future.set_result(None)
            assert task.cancel()

        task = support.new_task(loop, work(), results)
        task.start()
        loop.call_later(0.001, finish_and_cancel)

    (error,) = in_callback(action).all
    assert isinstance(error, asyncio.CancelledError)


def test_a_task_that_is_done_cannot_be_cancelled(support: TaskSupport, in_callback: InCallback) -> None:
    tasks = []

    def action(loop: Loop, results: Results) -> None:
        tasks.append(support.new_task(loop, asyncio.sleep(0), results))
        tasks[0].start()

    in_callback(action)
    assert not tasks[0].cancel()
