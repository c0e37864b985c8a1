"""A coroutine that begins at once, and goes on in the very callback that brings what it waits for.

A task of asyncio's needs a turn of the event loop for its beginning and for every wait: system calls, objects and
time that a request which waits once for its provider can do without. Everything else is as in a task: what an errand
runs may use timeouts, sleep, and be cancelled.
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any, Protocol


class Cancellable(Protocol):
    """What tasks and errands have in common."""

    def cancel(self) -> bool: ...

    def uncancel(self) -> int: ...


class Waiter:
    """What an errand waits for: `wake` lets it go on before it returns. One may wait, errand or task; a task goes on in
    its turn.

    To asyncio it is a future, because it has all that a task asks of one, and the mark by which a task knows it.
    """

    __slots__ = ("_asyncio_future_blocking", "_callback", "_cancelled", "_context", "_done", "_loop", "errand")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._asyncio_future_blocking = False
        self._loop = loop
        self._done = False
        self._cancelled = False
        self._callback: Callable[[Waiter], object] | None = None  # a task's
        self._context: Context | None = None
        self.errand: Errand | None = None  # that waits

    def wake(self) -> None:
        """What is waited for has come. Call it last: the errand may do anything."""
        if not self._done:
            self._done = True
            if self.errand is not None:
                self.errand.begin()
            else:
                self._call_back()

    def __await__(self) -> Generator[Waiter, None, None]:
        if not self._done:
            self._asyncio_future_blocking = True
            yield self
        self.result()

    def take(self) -> None:
        """Somebody begins to wait."""
        self._asyncio_future_blocking = False

    # what a task asks of a future

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def add_done_callback(self, callback: Callable[[Waiter], object], *, context: Context | None = None) -> None:
        self._callback, self._context = callback, context
        if self._done:
            self._call_back()

    def cancel(self, msg: object = None) -> bool:
        if self._done:
            return False
        self._done = self._cancelled = True
        self._call_back()
        return True

    def result(self) -> None:
        if self._cancelled:
            raise asyncio.CancelledError

    def _call_back(self) -> None:
        if self._callback is not None:
            self._loop.call_soon(self._callback, self, context=self._context)


class Errand:
    """Runs a coroutine; `begin` it once. `ended` is told what it raised, None if nothing."""

    __slots__ = (
        *("_cancelling", "_coroutine", "_doomed", "_ended", "_loop", "_over", "_run", "_waits_for"),
        "__weakref__",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, None],
        ended: Callable[[BaseException | None], None],
    ) -> None:
        self._loop = loop
        self._coroutine = coroutine
        self._run = copy_context().run  # what it sets is its own, whatever callback it goes on in
        self._ended = ended
        self._waits_for: Any = None  # a waiter, or a future of asyncio's
        self._cancelling = 0
        self._doomed = False  # to be cancelled with its next step
        self._over = False

    def begin(self) -> None:
        """Run until it waits for something. Also the way it goes on afterwards."""
        try:
            _enter_task(self._loop, self)  # type: ignore[arg-type]
        except RuntimeError:  # a task is running: when it has had its turn
            self._loop.call_soon(self.begin)
            return
        self._waits_for = None
        doomed, self._doomed = self._doomed, False
        try:
            if doomed:
                awaited = self._run(self._coroutine.throw, asyncio.CancelledError())
            else:
                awaited = self._run(self._coroutine.send, None)
        except StopIteration:
            self._end(None)
        except BaseException as error:
            self._end(error)
            if not isinstance(error, Exception | asyncio.CancelledError):
                self._loop.call_soon(_raise, error)  # it ends the loop, as out of a task
        else:
            self._wait(awaited)
        finally:
            _leave_task(self._loop, self)  # type: ignore[arg-type]

    def cancel(self) -> bool:
        """End what it waits for with CancelledError, in a later turn of the loop. False: it is over."""
        if self._over:
            return False
        self._cancelling += 1
        if self._waits_for is None:
            self._doomed = True
        else:
            self._stop_waiting(self._waits_for)
        return True

    def uncancel(self) -> int:
        self._cancelling = max(0, self._cancelling - 1)
        if not self._cancelling:
            self._doomed = False
        return self._cancelling

    def cancelling(self) -> int:
        return self._cancelling

    def done(self) -> bool:
        return self._over

    def get_name(self) -> str:
        return "errand"

    def _end(self, error: BaseException | None) -> None:
        self._over = True
        self._ended(error)

    def _wait(self, awaited: Any) -> None:
        if awaited is None:  # for one turn of the loop
            self._loop.call_soon(self.begin)
            return
        self._waits_for = awaited
        if isinstance(awaited, Waiter):
            awaited.take()
            awaited.errand = self
        else:
            awaited._asyncio_future_blocking = False  # as a task takes it
            awaited.add_done_callback(self._woken)
        if self._doomed:
            self._doomed = False
            self._stop_waiting(awaited)

    def _stop_waiting(self, awaited: Any) -> None:
        if not awaited.cancel():
            self._doomed = True  # it has come: the next step is on its way
        elif isinstance(awaited, Waiter):
            self._loop.call_soon(self.begin)

    def _woken(self, _: asyncio.Future[Any]) -> None:
        self.begin()


def _raise(error: BaseException) -> None:
    raise error
