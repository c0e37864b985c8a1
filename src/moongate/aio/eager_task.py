"""A coroutine that starts at once, and continues inside the very callback that brings what it waits for.

An `asyncio.Task` needs an iteration of the event loop to start and one after every wait: system calls, objects and
time that a request which waits once for its provider can do without. In all else an eager task behaves as an
`asyncio.Task`: the coroutine may use timeouts, sleep, and be cancelled.

This is the only module that uses private parts of asyncio: `_enter_task` and `_leave_task` (what makes a task the
current one) and `_asyncio_future_blocking` (how a task recognises a future). `eager_check` tests whether they do what
is expected of them here; `tasks` chooses by it.
"""

from __future__ import annotations

import asyncio
from asyncio import tasks
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any, Final


def _missing(_loop: object, _task: object) -> None:
    raise AttributeError("this version of asyncio has no such function")


_enter_task: Final[Callable[[object, object], None]] = getattr(tasks, "_enter_task", _missing)
_leave_task: Final[Callable[[object, object], None]] = getattr(tasks, "_leave_task", _missing)


class InlineFuture:
    """A future without a value: `wake` continues the waiting task before it returns.

    One task may wait. An `asyncio.Task` may wait, too, and continues in an iteration of its own: to asyncio this is a
    future, because it has the methods that a task calls, and the attribute by which a task recognises one.
    """

    __slots__ = ("_asyncio_future_blocking", "_callback", "_cancelled", "_context", "_done", "_loop", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._asyncio_future_blocking = False
        self._loop = loop
        self._done = False
        self._cancelled = False
        self._callback: Callable[[InlineFuture], object] | None = None  # set by an asyncio.Task that waits
        self._context: Context | None = None
        self.task: EagerTask | None = None  # the eager task that waits

    def wake(self) -> None:
        """What is waited for has come. Call it last: the task may do anything."""
        if not self._done:
            self._done = True
            if self.task is not None:
                self.task.resume()
            else:
                self._schedule_callback()

    def __await__(self) -> Generator[InlineFuture, None, None]:
        if not self._done:
            self._asyncio_future_blocking = True
            yield self
        self.result()

    # What an asyncio.Task calls.

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def add_done_callback(self, callback: Callable[[InlineFuture], object], *, context: Context | None = None) -> None:
        self._callback, self._context = callback, context
        if self._done:
            self._schedule_callback()

    def cancel(self, msg: object = None) -> bool:
        if self._done:
            return False
        self._done = self._cancelled = True
        self._schedule_callback()
        return True

    def result(self) -> None:
        if self._cancelled:
            raise asyncio.CancelledError

    def _schedule_callback(self) -> None:
        if self._callback is not None:
            self._loop.call_soon(self._callback, self, context=self._context)


class EagerTask:
    """Runs a coroutine. `on_done` is called with what it raised, None if nothing."""

    __slots__ = (
        *("_awaited", "_cancelling", "_coroutine", "_done", "_loop", "_must_cancel", "_on_done", "_run_in_context"),
        "__weakref__",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, None],
        on_done: Callable[[BaseException | None], None],
    ) -> None:
        self._loop = loop
        self._coroutine = coroutine
        self._run_in_context = copy_context().run  # its context variables are its own, whichever callback resumes it
        self._on_done = on_done
        self._awaited: Any = None  # an InlineFuture, or any future of asyncio's
        self._cancelling = 0
        self._must_cancel = False  # the next step raises CancelledError in the coroutine
        self._done = False

    def start(self) -> None:
        """Run until the coroutine waits for something. Call once."""
        self.resume()

    def resume(self) -> None:
        """Run until the coroutine waits again."""
        try:
            _enter_task(self._loop, self)
        except RuntimeError:  # another task is running: continue when it has had its turn
            self._loop.call_soon(self.resume)
            return
        self._awaited = None
        must_cancel, self._must_cancel = self._must_cancel, False
        try:
            if must_cancel:
                awaited = self._run_in_context(self._coroutine.throw, asyncio.CancelledError())
            else:
                awaited = self._run_in_context(self._coroutine.send, None)
        except StopIteration:
            self._finish(None)
        except BaseException as error:
            self._finish(error)
            if not isinstance(error, Exception | asyncio.CancelledError):
                self._loop.call_soon(_raise, error)  # SystemExit and the like end the loop, as from an asyncio.Task
        else:
            self._wait_for(awaited)
        finally:
            _leave_task(self._loop, self)

    # The methods of an asyncio.Task that asyncio and others call.

    def cancel(self) -> bool:
        """Raise CancelledError where the coroutine waits, in a later iteration of the loop. False: it is done."""
        if self._done:
            return False
        self._cancelling += 1
        if self._awaited is None:
            self._must_cancel = True
        else:
            self._cancel_wait(self._awaited)
        return True

    def uncancel(self) -> int:
        self._cancelling = max(0, self._cancelling - 1)
        if not self._cancelling:
            self._must_cancel = False
        return self._cancelling

    def cancelling(self) -> int:
        return self._cancelling

    def done(self) -> bool:
        return self._done

    def get_name(self) -> str:
        return "eager-task"

    def _finish(self, error: BaseException | None) -> None:
        self._done = True
        self._on_done(error)

    def _wait_for(self, awaited: Any) -> None:
        if awaited is None:  # asyncio.sleep(0): one iteration of the loop
            self._loop.call_soon(self.resume)
            return
        self._awaited = awaited
        if isinstance(awaited, InlineFuture):
            awaited._asyncio_future_blocking = False  # as asyncio.Task does, here and below
            awaited.task = self
        else:
            awaited._asyncio_future_blocking = False
            awaited.add_done_callback(self._on_future_done)
        if self._must_cancel:
            self._must_cancel = False
            self._cancel_wait(awaited)

    def _cancel_wait(self, awaited: Any) -> None:
        if not awaited.cancel():
            self._must_cancel = True  # it is done already: the next step is scheduled
        elif isinstance(awaited, InlineFuture):
            self._loop.call_soon(self.resume)

    def _on_future_done(self, _: asyncio.Future[Any]) -> None:
        self.resume()


def _raise(error: BaseException) -> None:
    raise error
