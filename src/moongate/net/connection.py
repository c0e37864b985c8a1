"""One socket to the provider, and the exchanges that run over it one after the other."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from typing import cast

from moongate.errors import BadUpstream, UpstreamTimeout
from moongate.net.deadlines import Alarm, Deadlines
from moongate.net.exchange import Exchange
from moongate.net.lane import Lane
from moongate.net.reader import Reader


class StaleConnection(BadUpstream):
    """A reused connection died before it answered: the request may be sent again."""


class Connection:
    """Serves one exchange at a time; bytes that no exchange asked for close it. All that an `asyncio.Protocol` has.

    `on_free(connection, reusable)` is called once at the end of each exchange, `on_surplus()` when the provider has
    sent what no exchange asked for.
    """

    def __init__(
        self, on_free: Callable[[Connection, bool], None], on_surplus: Callable[[], None] = lambda: None
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._on_free = on_free
        self._on_surplus = on_surplus
        self._alarm = Alarm(self.loop, self._ring)
        self._reader = Reader()
        self._exchange: Exchange | None = None
        self._lane: Lane | None = None  # the exchange's, while the next byte begins an HTTP chunk
        self._paused = False
        self._used = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._poll = select.poll()
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def is_open(self) -> bool:
        return not self._transport.is_closing()

    def is_fit(self) -> bool:
        """May an idle connection take a request? Not if any byte (or the end) waits to be read."""
        return self.is_open() and not self._poll.poll(0)

    def rest(self, seconds: float) -> None:
        """Stay open for at most `seconds` from now."""
        self._alarm.set(self.loop.time() + seconds)

    def start(self, head: bytes, body: bytes, deadlines: Deadlines) -> Exchange:
        """Send a request. Wait for `Exchange.news` of its head next."""
        if self._used:
            self._reader.reset()
        exchange = self._exchange = Exchange(self, deadlines)
        self._silence, self._whole = deadlines.silence, exchange.whole
        self._patience(deadlines.head, exchange)
        if not self.is_open():
            self.end(BadUpstream("the provider closed the connection at once", code="closed"))
        else:
            self._transport.writelines((head, body))
        return exchange

    def data_received(self, data: bytes) -> None:
        try:
            taken = self._lane is not None and self._lane.take(data)
        except Exception as error:  # as in `_read`; the client's transport may be closed, and uvloop's raises then
            self.end(error)
            return
        if not taken:
            self._read(data)
        elif not self._paused:  # the client may have fallen behind with this very read
            due = self.loop.time() + self._silence
            self._alarm.due = due if due < self._whole else self._whole

    def _read(self, data: bytes) -> None:
        exchange, reader = self._exchange, self._reader
        self._lane = None
        if exchange is None:
            self._on_surplus()
            self._transport.abort()
            return
        body = reader.feed(data)
        begins = not exchange.status and reader.status
        if begins:
            if self._transport.get_write_buffer_size():
                reader.reusable = False  # it answered before it had the whole question
            exchange.begin(reader.status, reader.headers)
            if not body:
                self._patience(exchange.deadlines.first, exchange)
        if body:
            if not reader.complete:
                self._patience(exchange.deadlines.silence, exchange)
            try:
                exchange.feed(body)
            except Exception as error:  # whatever the sink raises is its reader's: `pipe` raises it again
                self.end(error)
        if exchange is not self._exchange:
            return  # the sink ended it
        if reader.complete:
            if reader.surplus:
                self._on_surplus()
            self.end(None, reusable=reader.reusable)
        elif reader.failure is not None:
            self.end(reader.failure)
        elif begins:
            exchange.wake()
        elif exchange.lane is not None and reader.is_between(data):
            self._lane = exchange.lane

    def connection_lost(self, exc: Exception | None) -> None:
        self._alarm.stop()
        if exc is None:
            self._reader.close()
        if self._reader.complete:
            self.end(None)
        elif self._reader.heard:
            self.end(BadUpstream("the provider cut its answer", code="cut"))
        else:
            kind = StaleConnection if self._used else BadUpstream
            self.end(kind("the provider closed the connection without an answer", code="closed"))

    def eof_received(self) -> None:
        """None: the transport closes, which ends the exchange."""

    def pause_writing(self) -> None:
        """A request is one write: nothing more comes."""

    def resume_writing(self) -> None:
        pass

    def end(self, error: Exception | None, *, reusable: bool = False) -> None:
        """End the exchange, if there is one; unless `reusable`, close the socket at once."""
        exchange = self._exchange
        if not reusable:
            self._transport.abort()
        elif exchange is not None:
            self.resume(exchange)
        if exchange is not None:
            self._exchange = self._lane = None
            self._used = True
            exchange.end(error)
            self._on_free(self, reusable)
            exchange.wake()

    def pause(self, exchange: Exchange) -> None:
        if exchange is self._exchange and not self._paused:
            self._paused = True
            self._transport.pause_reading()
            self._alarm.due = exchange.whole

    def resume(self, exchange: Exchange) -> None:
        if exchange is self._exchange and self._paused:
            self._paused = False
            self._transport.resume_reading()
            self._patience(exchange.deadlines.silence, exchange)

    def _patience(self, seconds: float, exchange: Exchange) -> None:
        self._alarm.set(min(self.loop.time() + seconds, exchange.whole))

    def _ring(self) -> None:
        exchange, phase = self._exchange, "head"
        if exchange is not None and self.loop.time() >= exchange.whole:
            phase = "whole"
        elif self._reader.status:
            phase = "silence"
        self.end(UpstreamTimeout(f"the provider took too long ({phase})", code=f"{phase}_timeout"))
