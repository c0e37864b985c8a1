"""One streamed answer: the upstream's reads → the session → the client's socket, without a task in between.

Status 200 is committed when the first event has come, or after `commit` seconds. What fails before that is raised, so
that it can be retried or answered with its own status; what fails after it becomes one in-band error, then the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic

from moongate.aio.tasks import Cancellable
from moongate.chat.contracts import Dialect
from moongate.errors import GatewayError
from moongate.fast.session import FastSession
from moongate.gateway.http.forward import TextForwarding
from moongate.gateway.http.sessions import AnySession
from moongate.gateway.http.stream_feeder import StreamFeeder
from moongate.gateway.http.stream_timeouts import StreamTimeouts
from moongate.gateway.server.read_progress import ReadProgress
from moongate.gateway.server.response_writer import HeaderList, ResponseWriter
from moongate.gateway.server.ticker import Ticker
from moongate.net.contract import Response
from moongate.net.deadlines import late_answer


class Relay:
    """`await run()` until the stream is over. `committed` and `failure` show how far it came."""

    __slots__ = (
        *("_dialect", "_feeder", "_forwarding", "_headers", "_held", "_is_long", "_name_provider", "_next_try"),
        "_on_commit",
        *("_redact", "_response", "_session", "_task", "_ticker", "_ticks_since_write", "_progress", "_commit_at"),
        *("_timeout_error", "_timeouts", "_wait", "_writer", "committed", "failure"),
    )

    def __init__(
        self,
        session: AnySession,
        dialect: Dialect,
        writer: ResponseWriter,
        *,
        headers: HeaderList,
        timeouts: StreamTimeouts,
        ticker: Ticker,
        on_commit: Callable[[], None],
        redact: Callable[[bytes], bytes] = bytes,
        name_provider: Callable[[GatewayError], None] = lambda _: None,
        next_try: Callable[[], Awaitable[Response | None] | None] | None = None,
        is_long: bool = False,
    ) -> None:
        self._session = session
        self._dialect = dialect
        self._writer = writer
        self._headers = headers
        self._timeouts = timeouts
        self._ticker = ticker
        self._on_commit = on_commit  # called when status 200 is sent
        self._redact = redact  # takes secrets out: a provider may quote our key in an error
        self._name_provider = name_provider  # adds to an error who the provider is
        self._is_long = is_long  # the request is, so that its end is for a thread
        self._next_try = next_try  # sends what the exchange wants sent again; None: that may not be
        self._response: Response | None = None
        self._forwarding: TextForwarding | None = None  # of a fast session, while it runs
        self._held: list[bytes] = []
        self._ticks_since_write = 0
        self._progress: ReadProgress | None = None  # of the client, while it does not read fast enough
        self._wait: asyncio.TimerHandle | None = None  # for the commit, or for the first event
        self._task = writer.task or asyncio.current_task()
        self._timeout_error: GatewayError | None = None  # why the task was cancelled
        self.committed = False
        self.failure: GatewayError | None = None

    async def run(self, response: Response) -> None:
        """Raises GatewayError only if nothing was committed."""
        self._response = response
        if isinstance(self._session, FastSession):
            self._forwarding = TextForwarding(self._session, self._writer, response)
        feeder = self._feed_from(response)
        self._writer.on_drain(response.pause, response.resume)
        self._writer.on_half_close(self._send_keep_alive)
        try:
            try:
                rest = response.pipe(feeder.feed)
                if not self.committed:
                    loop = asyncio.get_running_loop()
                    self._commit_at = loop.time() + self._timeouts.commit
                    self._wait_for_event(response, loop)
                await rest
                await self._close_session()
                if self._session.waiting:
                    await self._try_again()
            except GatewayError as error:
                await self._fail(error)
            except asyncio.CancelledError:
                if self._timeout_error is None or self._task is None:
                    self._session.abandon()
                    raise
                self._task.uncancel()
                await self._fail(self._timeout_error)
            self.failure = self.failure or self._session.failure
            if not self.committed:
                if self.failure is not None:
                    raise self.failure
                self._commit()
            self._writer.finish()
        finally:
            self._feeder.stop()
            if self._wait is not None:
                self._wait.cancel()
            self._ticker.discard(self)

    async def _try_again(self) -> None:
        """Go on with the answers of further tries until one will do, or no more are made."""
        session = self._session
        while session.waiting:
            sending = None if self._next_try is None else self._next_try()
            response = None if sending is None else await sending
            if response is None:
                self._send(await self._feeder.end(session.settle))
                return
            self._response, self._forwarding = response, None
            self._writer.on_drain(response.pause, response.resume)
            session.resume(response.headers.get(b"content-type", b"").decode("latin-1"))
            try:
                await response.pipe(self._feed_from(response).feed)
                await self._close_session()
            except GatewayError as error:
                response.close()
                await self._feeder.idle()
                self._send(await self._feeder.end(partial(session.fail, error)))  # an earlier answer leaves
            except BaseException:
                response.close()
                raise

    def _feed_from(self, response: Response) -> StreamFeeder:
        feeder = StreamFeeder(self._session, response, self._ticker.activity, self, self._redact, is_long=self._is_long)
        self._feeder = feeder
        return feeder

    async def _close_session(self) -> None:
        await self._feeder.settle()
        if not self._session.finished:
            self._send(await self._feeder.end(self._session.close))

    def tick(self) -> None:
        """One tick (`Ticker.seconds`) has passed."""
        if self._writer.paused:
            self._check_reading()
            return
        self._progress = None
        self._ticks_since_write += 1
        if self._forwarding is not None and self._forwarding.forwarded():
            self._ticks_since_write = 0
        if self._ticks_since_write >= self._timeouts.keep_alive:
            self._send_keep_alive()

    def _send_keep_alive(self) -> None:
        if self.committed:
            self._ticks_since_write = 0
            self._writer.write(self._dialect.keep_alive())

    def _check_reading(self) -> None:
        """A client may read slowly, but not stop for too long."""
        left, now = self._writer.unread_bytes(), monotonic()
        if self._progress is None:
            self._progress = ReadProgress(left, now)
        elif self._progress.look(left, now) >= self._timeouts.unread:
            self._writer.drop()

    def _wait_for_event(self, response: Response, loop: asyncio.AbstractEventLoop) -> None:
        """Until the first event: commit in time, and fail when the event is late, counted from the request."""
        if self._session.started:
            return
        now = loop.time()
        late = response.sent_at + self._timeouts.first_event
        if now >= late:
            self._timeout_error = late_answer("first")
            self._cancel()
            return
        if now >= self._commit_at:
            self._commit()
        due = late if self.committed else min(late, self._commit_at)
        self._wait = loop.call_at(due, self._wait_for_event, response, loop)

    # The feeder calls what follows.

    @property
    def task(self) -> Cancellable | None:
        return self._task

    @property
    def paused(self) -> bool:
        return self._writer.paused

    def suspend_forwarding(self) -> None:
        if self._forwarding is not None:
            self._forwarding.suspend()

    def deliver(self, out: bytes) -> None:
        session = self._session
        if self.committed:
            if out:
                self._ticks_since_write = 0
                self._writer.write(out)
        else:
            self._send(out)
        if self.committed and self._forwarding is not None:
            self._forwarding.update()
        if (session.finished or session.waiting) and self._response is not None:
            if session.failure is None:
                self._response.release()  # the rest of the body may end at once, and the connection be used again
            else:
                self._response.close()

    def _send(self, out: bytes) -> None:
        """Until the status is committed, output is held back; the first event commits it."""
        if self.committed:
            if out:
                self._writer.write(out)
            return
        if self._session.failure is not None:
            raise self._session.failure
        if out:
            self._held.append(out)
        if self._session.started:
            self._commit()

    def _commit(self) -> None:
        if self.committed:
            return
        self.committed = True
        self._on_commit()
        self._writer.start(200, self._headers, b"".join(self._held))
        self._held.clear()
        self._ticker.add(self)

    async def _fail(self, error: GatewayError) -> None:
        await self._feeder.idle()
        if not self.committed:
            raise error
        self.failure = error
        self._name_provider(error)
        self._writer.write(await self._feeder.end(partial(self._session.fail, error)))

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
