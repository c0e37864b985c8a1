"""One connection to Redis or Valkey: commands are pipelined, and every one has a deadline.

Commands of one iteration of the event loop leave in one write. One that nobody waits for may linger: it leaves with the
next one, at most a millisecond later, and saves both sides system calls. Replies come in the order of the commands, so
one timer for the oldest command is enough; a reply that comes after its deadline is read and thrown away.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, cast

from moongate.aio.eager_task import InlineFuture
from moongate.gateway.shared.resp import BadReply, Reply, ReplyParser

MAX_PENDING: Final = 10_000  # commands without a reply; further ones fail at once
LINGER_SECONDS: Final = 0.001


class PendingCall:
    """One command. `failed`: no reply came in time, or the connection was lost; whether it was executed is unknown."""

    __slots__ = ("_on_done", "_waiter", "due", "failed", "is_done", "reply")

    def __init__(self, due: float, on_done: Callable[[PendingCall], None] | None = None) -> None:
        self.due = due
        self.reply: Reply = None
        self.is_done = False
        self.failed = False
        self._on_done = on_done
        self._waiter: InlineFuture | None = None

    async def wait(self) -> None:
        if not self.is_done:
            self._waiter = InlineFuture(asyncio.get_running_loop())
            await self._waiter

    def finish(self, reply: Reply, *, failed: bool = False) -> None:
        """Once; a reply after the deadline changes nothing."""
        if not self.is_done:
            self.is_done, self.failed, self.reply = True, failed, reply
            if self._on_done is not None:
                self._on_done(self)
            if self._waiter is not None:
                self._waiter.wake()


class RedisConnection:
    """`call` sends a command. `on_lost` is called once, when the connection is gone. Has the methods of an
    `asyncio.Protocol`."""

    def __init__(self, deadline: float, on_lost: Callable[[], None]) -> None:
        self._deadline = deadline
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._parser = ReplyParser()
        self._pending: deque[PendingCall] = deque()
        self._unsent: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._will_send = self._lingers = False
        self.timeouts = 0  # in a row

    def call(
        self,
        data: bytes,
        on_done: Callable[[PendingCall], None] | None = None,
        *,
        deadline: float | None = None,
        lingers: bool = False,
    ) -> PendingCall:
        now = self._loop.time()
        call = PendingCall(now + (self._deadline if deadline is None else deadline), on_done)
        if self._transport is None or len(self._pending) >= MAX_PENDING:
            call.finish(None, failed=True)
            return call
        if lingers and not (self._will_send or self._lingers):
            self._lingers = True
            self._loop.call_later(LINGER_SECONDS, self._send_late)
        elif not lingers and not self._will_send:
            self._will_send = True
            self._loop.call_soon(self._send)
        self._unsent.append(data)
        self._pending.append(call)
        if self._timer is None:
            self._timer = self._loop.call_at(call.due, self._on_deadline)
        return call

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    def close(self, *, after_sending: bool = False) -> None:
        if self._transport is None:
            return
        if after_sending:
            self._send()
            self._transport.close()
        else:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        try:
            replies = self._parser.feed(data)
        except BadReply:
            self.close()
            return
        for reply in replies:
            if not self._pending:
                self.close()
                return
            call = self._pending.popleft()
            if not call.is_done:
                self.timeouts = 0
            call.finish(reply)

    def eof_received(self) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pending, self._pending = self._pending, deque()
        for call in pending:
            call.finish(None, failed=True)
        self._on_lost()

    def _send(self) -> None:
        self._will_send = False
        data, self._unsent = b"".join(self._unsent), []
        if self._transport is not None:
            self._transport.write(data)

    def _send_late(self) -> None:
        self._lingers = False
        if self._unsent:
            self._send()

    def _on_deadline(self) -> None:
        """A deadline has passed. If this process was busy, the reply may be in the socket already: read it first."""
        self._timer = self._loop.call_later(0, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now = self._loop.time()
        for call in list(self._pending):
            if call.due > now:
                break
            if not call.is_done:
                self.timeouts += 1
                call.finish(None, failed=True)
        waiting = next((call.due for call in self._pending if not call.is_done), None)
        if waiting is not None and self._timer is None:
            self._timer = self._loop.call_at(waiting, self._on_deadline)
