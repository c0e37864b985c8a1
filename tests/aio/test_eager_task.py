"""What only eager tasks do: start at once, and continue inside the callback that wakes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.aio.conftest import Loop, Results, until_done

from moongate.aio.eager_task import EagerTask, InlineFuture

InCallback = Callable[..., Results]


def test_it_starts_at_once_and_continues_inside_the_callback_that_wakes_it(in_callback: InCallback) -> None:
    steps: list[str] = []

    def action(loop: Loop, results: Results) -> None:
        future = InlineFuture(loop)

        async def work() -> None:
            steps.append("started")
            await future
            steps.append("woken")

        task = EagerTask(loop, work(), results)
        task.start()
        assert (steps, task.done()) == (["started"], False)
        future.wake()
        assert (steps, task.done(), results.all) == (["started", "woken"], True, [None])
        future.wake()  # no effect

    assert in_callback(action).all == [None]


def test_it_is_the_current_task_while_it_runs_and_only_then(in_callback: InCallback) -> None:
    def action(loop: Loop, results: Results) -> None:
        seen: list[object] = []

        async def work() -> None:
            seen.append(asyncio.current_task())

        task = EagerTask(loop, work(), results)
        task.start()
        assert seen == [task]
        assert asyncio.current_task(loop) is None
        assert task.get_name() == "eager-task"

    in_callback(action)


def test_it_counts_cancellations(in_callback: InCallback) -> None:
    def action(loop: Loop, results: Results) -> None:
        task = EagerTask(loop, asyncio.sleep(60), results)
        task.start()
        task.cancel()
        task.cancel()
        assert task.cancelling() == 2

    in_callback(action)


def test_cancelled_before_it_starts_it_never_does(in_callback: InCallback) -> None:
    async def work() -> None:
        raise AssertionError

    def action(loop: Loop, results: Results) -> None:
        task = EagerTask(loop, work(), results)
        assert task.cancel()
        task.start()
        assert task.done()
        assert not task.cancel()

    (error,) = in_callback(action).all
    assert isinstance(error, asyncio.CancelledError)


def test_woken_by_a_task_it_continues_when_that_has_had_its_turn(in_callback: InCallback) -> None:
    steps: list[str] = []
    futures: list[InlineFuture] = []

    def action(loop: Loop, results: Results) -> None:
        futures.append(InlineFuture(loop))

        async def work() -> None:
            await futures[0]
            steps.append("woken")

        EagerTask(loop, work(), results).start()

    async def then(results: Results) -> None:
        futures[0].wake()
        assert steps == []
        await until_done(results)

    assert in_callback(action, then).all == [None]
    assert steps == ["woken"]
