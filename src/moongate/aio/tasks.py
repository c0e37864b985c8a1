"""The tasks that requests run in, and the futures that they wait for: one interface, two implementations.

`eager_task` saves iterations of the event loop, but uses private parts of asyncio. Where a check at import finds that
they behave differently in this version of Python, or where `MOONGATE_FAST=0` asks for it, `loop_task` takes its place:
the same over `asyncio.Task` and `asyncio.Future`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple, Protocol

from moongate.aio.eager_check import eager_task_works
from moongate.aio.eager_task import EagerTask, InlineFuture
from moongate.aio.loop_task import LoopFuture, LoopTask
from moongate.switches import FAST


class Cancellable(Protocol):
    """What can be cancelled as an `asyncio.Task` is."""

    def cancel(self) -> bool: ...

    def uncancel(self) -> int: ...


class StartableTask(Cancellable, Protocol):
    """A task that has not begun yet, so that its owner can register it first."""

    def start(self) -> None:
        """Call once."""
        ...


class WakeableFuture(Awaitable[None], Protocol):
    """A future without a value, for one waiting task."""

    def wake(self) -> None:
        """What is waited for has come. The last thing a callback does: the waiting task may continue inside this call.

        Repeated calls have no effect.
        """
        ...


class TaskSupport(NamedTuple):
    """One implementation. The task calls `on_done` with what the coroutine raised, None if nothing."""

    new_task: Callable[
        [asyncio.AbstractEventLoop, Coroutine[Any, Any, None], Callable[[BaseException | None], None]], StartableTask
    ]
    new_future: Callable[[asyncio.AbstractEventLoop], WakeableFuture]


def is_current(task: Cancellable | None, current: object) -> bool:
    """Is `task` the one that asyncio calls its `current` task?"""
    return task is not None and (task is current or (isinstance(task, LoopTask) and task.is_task(current)))


EAGER: Final = TaskSupport(EagerTask, InlineFuture)
LOOP: Final = TaskSupport(LoopTask, LoopFuture)


def choose(*, fast: bool, works: Callable[[], bool] = eager_task_works) -> TaskSupport:
    """The eager tasks, if they are wanted and work in this version of Python."""
    return EAGER if fast and works() else LOOP


TASKS: Final = choose(fast=FAST)
