"""Checks whether this version of asyncio treats an EagerTask as a task, by running one, once, at import."""

from __future__ import annotations

import asyncio
import threading
from typing import Final

from moongate.aio.eager_task import EagerTask, InlineFuture

PROBE_SECONDS: Final = 1.0  # the check takes a millisecond; if it hangs, the answer is no


def eager_task_works() -> bool:
    """True if an EagerTask behaves as it should. Tried in a thread of its own, because a loop may run in this one."""
    results: list[bool] = []

    def run() -> None:
        try:
            results.append(asyncio.run(_probe()))
        except Exception:  # whatever a version of asyncio raises, it means no
            results.append(False)

    thread = threading.Thread(target=run, name="eager-task-probe")
    thread.start()
    thread.join()
    return results == [True]


async def _probe() -> bool:
    """Start, current task, wake-up inside the callback, timeout and cancellation."""
    loop = asyncio.get_running_loop()
    future, finished = InlineFuture(loop), loop.create_future()
    steps: list[object] = []

    async def work() -> None:
        steps.append(asyncio.current_task())
        await future
        steps.append("woken")
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(PROBE_SECONDS)
        except TimeoutError:
            loop.call_soon(task.cancel)
        await loop.create_future()

    def on_done(error: BaseException | None) -> None:
        finished.set_result(isinstance(error, asyncio.CancelledError))

    def start_and_wake() -> None:
        try:
            task.start()
            future.wake()
        except Exception as error:
            coroutine.close()
            finished.set_exception(error)
        else:
            steps.append("returned")

    coroutine = work()
    task = EagerTask(loop, coroutine, on_done)
    loop.call_soon(start_and_wake)
    async with asyncio.timeout(PROBE_SECONDS):
        cancelled = await finished
    return cancelled is True and steps == [task, "woken", "returned"]
