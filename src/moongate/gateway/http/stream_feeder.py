"""Feeds a stream to its session: small reads at once, large events in a thread, so that the loop serves others.

The end of a call or of the answer may come in a small read, and all calls are judged then: behind much text that was
not passed on unread, or many calls, every read is for a thread.

While a thread works, the provider is paused, and what still comes waits its turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from moongate.gateway.http.sessions import AnySession
from moongate.gateway.server.activity import Activity
from moongate.net.contract import Response

OFFLOAD_PENDING: Final = 32 * 1024  # of reads that have given no output yet: an event of this size may take long
OFFLOAD_CHARS: Final = 128 * 1024  # of an answer that was read so far: its end may take long
OFFLOAD_LINES: Final = 4000  # of one read: an event takes up to 10 µs of CPU time, however small it is
LEAST_READ: Final = 16  # bytes: a shorter read may be the rest of an end that was cut


class FedStream(Protocol):
    """The stream that is fed."""

    @property
    def task(self) -> object:
        """The task that waits for it: always the same."""

    @property
    def paused(self) -> bool:
        """The client has fallen behind."""

    def suspend_forwarding(self) -> None:
        """Nothing may pass the session until the next output."""

    def deliver(self, out: bytes) -> None:
        """What the session has made of a read."""


class StreamFeeder:
    """`feed` is the sink of the provider's reads."""

    __slots__ = (
        *(
            "_activity",
            "_error",
            "_is_long",
            "_redact",
            "_response",
            "_session",
            "_stream",
            "_task",
            "_unsettled",
            "_waiting",
        ),
        "_working",
    )

    def __init__(
        self,
        session: AnySession,
        response: Response,
        activity: Activity,
        stream: FedStream,
        redact: Callable[[bytes], bytes],
        *,
        is_long: bool = False,
    ) -> None:
        self._session = session
        self._is_long = is_long  # the request is, which the end of the answer may look at as a whole
        self._redact = redact  # takes secrets out of what leaves with an error
        self._response = response
        self._activity = activity
        self._stream: FedStream | None = stream  # None: nobody waits for the output any more
        self._task = stream.task
        self._unsettled = 0  # bytes that have given no output yet
        self._waiting: deque[bytes] = deque()  # reads that came while a thread works
        self._working: asyncio.Future[None] | None = None  # done when no thread works any more
        self._error: Exception | None = None

    def feed(self, data: bytes) -> None:
        """A read from the provider. Raises what the session or the stream raises, unless in a thread."""
        if self._working is not None:
            self._waiting.append(data)
            self._response.pause()  # the client may have resumed it
            return
        stream = self._stream
        if stream is None or self._session.finished:
            return  # nothing after the end is read
        if self._is_heavy(len(data)) or _has_many_lines(data) or (self._is_long and _may_end(data)):
            stream.suspend_forwarding()  # what follows must not overtake it
            self._feed_in_thread(data)
            return
        self._activity.feeding = self._task
        try:
            out = self._session.feed(data)
        finally:
            self._activity.feeding = None
        if self._session.failure is not None:
            out = self._redact(out)
        self._unsettled = 0 if out else self._unsettled + len(data)
        stream.deliver(out)

    async def idle(self) -> None:
        """Wait until no thread works: until then nobody else may use the session."""
        while self._working is not None:
            await asyncio.shield(self._working)

    async def settle(self) -> None:
        """The same. Raises what was raised in a thread."""
        await self.idle()
        if self._error is not None:
            raise self._error

    async def end(self, function: Callable[[], bytes]) -> bytes:
        """The end of the session's output: what one of its methods returns, without secrets."""
        if self._is_long or self._is_heavy(0):
            return await self._activity.in_thread(self._output, function)
        return self._output(function)

    def _is_heavy(self, size: int) -> bool:
        """Behind what was read so far, may so many bytes more take long?"""
        return self._unsettled + size > OFFLOAD_PENDING or self._session.size > OFFLOAD_CHARS

    def _output(self, function: Callable[[], bytes]) -> bytes:
        out = function()
        return out if self._session.failure is None else self._redact(out)

    def stop(self) -> None:
        """Nobody waits for the output any more. Without its stream it is freed at once, not as garbage of a cycle."""
        self._stream = None

    def _feed_in_thread(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        self._working = loop.create_future()
        self._response.pause()
        self._activity.in_threads.add(self._task)
        self._unsettled += len(data)
        loop.run_in_executor(None, self._output, partial(self._session.feed, data)).add_done_callback(self._fed)

    def _end_work(self) -> asyncio.Future[None] | None:
        """Not in `_fed`: mypy would take it for None there, and machine code with it, though `feed` may begin more."""
        thread, self._working = self._working, None
        return thread

    def _fed(self, done: asyncio.Future[bytes]) -> None:
        """The thread has ended: deliver its output, then feed what came meanwhile."""
        thread = self._end_work()
        self._activity.in_threads.discard(self._task)
        error = done.exception()
        try:
            if error is not None:
                raise error
            if self._stream is not None:
                out = done.result()
                self._unsettled = 0 if out else self._unsettled
                self._stream.deliver(out)
                while self._waiting and self._working is None:
                    self.feed(self._waiting.popleft())
        except Exception as raised:  # `settle` raises it again, in the task that waits for the stream
            self._error = raised
            self._response.close()
        if self._working is None and self._stream is not None and not self._stream.paused:
            self._response.resume()
        if thread is not None:
            thread.set_result(None)


def _has_many_lines(data: bytes) -> bool:
    return len(data) > OFFLOAD_LINES and data.count(b"\n") + data.count(b"\r") > OFFLOAD_LINES


def _may_end(data: bytes) -> bool:
    """May the answer end in this read? (Or a call, which is told by its tool.)"""
    return len(data) < LEAST_READ or b"DONE" in data or b"tool_calls" in data
