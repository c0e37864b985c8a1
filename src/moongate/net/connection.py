"""One socket to the provider, and the exchanges that run over it, one after the other."""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator, Callable
from typing import cast

from moongate.errors import BadUpstream
from moongate.net.deadlines import Deadlines, DeadlineTimer, late_answer
from moongate.net.forward import ChunkForwarder
from moongate.net.http_exchange import HttpExchange
from moongate.net.response_reader import ResponseReader


class StaleConnection(BadUpstream):
    """A reused connection died before it answered: the request may be sent again."""


class Connection:
    """Serves one exchange at a time; bytes that belong to none close it. Has all methods of an `asyncio.Protocol`.

    `on_free(connection, reusable)` is called once at the end of each exchange, `on_surplus()` when the provider has
    sent bytes that belong to no exchange.
    """

    def __init__(
        self, on_free: Callable[[Connection, bool], None], on_surplus: Callable[[], None] = lambda: None
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._on_free = on_free
        self._on_surplus = on_surplus
        self._timer = DeadlineTimer(self.loop, self._on_deadline)
        self._reader = ResponseReader()
        self._exchange: HttpExchange | None = None
        self._forwarder: ChunkForwarder | None = None  # the exchange's, while the next byte starts an HTTP chunk
        self._paused = False
        self._used = False
        self._writable: asyncio.Event | None = None  # of an upload

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._poll = select.poll()
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def is_open(self) -> bool:
        return not self._transport.is_closing()

    def is_reusable(self) -> bool:
        """May an idle connection take a request? Not if any byte (or EOF) waits to be read."""
        return self.is_open() and not self._poll.poll(0)

    def close_after(self, seconds: float) -> None:
        """Stay open for at most `seconds` from now."""
        self._timer.set(self.loop.time() + seconds)

    def start(self, head: bytes, body: bytes, deadlines: Deadlines) -> HttpExchange:
        """Send a request. `await exchange.wait()` for the head of its answer next."""
        if self._used:
            self._reader.reset()
        exchange = self._exchange = HttpExchange(self, deadlines)
        self._silence, self._deadline = deadlines.silence, exchange.deadline
        self._set_deadline(deadlines.head, exchange)
        if not self.is_open():
            self.end(BadUpstream("the provider closed the connection at once", code="closed"))
        else:
            self._transport.writelines((head, body))
        return exchange

    async def upload(self, exchange: HttpExchange, pieces: AsyncIterator[bytes], *, chunked: bool) -> None:
        """Send the body of a started request, no faster than the provider reads. Each piece is progress.

        What `pieces` raises ends the exchange.
        """
        self._reader.reusable = False
        self._writable = asyncio.Event()
        self._writable.set()
        try:
            async for data in pieces:
                if data:
                    self._write_piece(exchange, b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
                    await self._writable.wait()
            if chunked:
                self._write_piece(exchange, b"0\r\n\r\n")
        except Exception as error:
            if exchange is self._exchange:
                self.end(error)

    def _write_piece(self, exchange: HttpExchange, data: bytes) -> None:
        if exchange is self._exchange and not exchange.status:
            exchange.sent_at = self.loop.time()
            self._set_deadline(exchange.deadlines.head, exchange)
            self._transport.write(data)

    def data_received(self, data: bytes) -> None:
        try:
            forwarded = self._forwarder is not None and self._forwarder.take(data)
        except Exception as error:  # as in `_read`; the client's transport may be closed, in which case uvloop's raises
            self.end(error)
            return
        if not forwarded:
            self._read(data)
        elif not self._paused:  # the client may have fallen behind with this very read
            due = self.loop.time() + self._silence
            self._timer.due = due if due < self._deadline else self._deadline

    def _read(self, data: bytes) -> None:
        exchange, reader = self._exchange, self._reader
        self._forwarder = None
        if exchange is None:
            self._on_surplus()
            self._transport.abort()
            return
        body = reader.feed(data)
        head_complete = not exchange.status and reader.status
        if head_complete:
            if self._transport.get_write_buffer_size():
                reader.reusable = False  # the answer came before the whole request was sent
            exchange.begin(reader.status, reader.headers)
            if not body:
                first = exchange.sent_at + exchange.deadlines.first_byte
                self._timer.set(min(self.loop.time() + self._silence, first, exchange.deadline))
        if body:
            if not reader.complete:
                self._set_deadline(exchange.deadlines.silence, exchange)
            try:
                exchange.feed(body)
            except Exception as error:  # whatever the sink raises: `pipe` raises it again
                self.end(error)
        if exchange is not self._exchange:
            return  # the sink has ended the exchange
        if reader.complete:
            if reader.surplus:
                self._on_surplus()
            self.end(None, reusable=reader.reusable)
        elif reader.failure is not None:
            self.end(reader.failure)
        elif head_complete:
            exchange.wake()
        elif exchange.forwarder is not None and reader.at_chunk_boundary(data):
            self._forwarder = exchange.forwarder

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.stop()
        if exc is None:
            self._reader.close()
        if self._reader.complete:
            self.end(None)
        elif self._reader.received_any:
            self.end(BadUpstream("the provider cut its answer", code="cut"))
        else:
            kind = StaleConnection if self._used else BadUpstream
            self.end(kind("the provider closed the connection without an answer", code="closed"))

    def eof_received(self) -> None:
        """Returns None: the transport closes, which ends the exchange."""

    def pause_writing(self) -> None:
        """Only an upload waits: any other request is one write."""
        if self._writable is not None:
            self._writable.clear()

    def resume_writing(self) -> None:
        if self._writable is not None:
            self._writable.set()

    def end(self, error: Exception | None, *, reusable: bool = False) -> None:
        """End the exchange, if there is one; unless `reusable`, close the socket at once."""
        exchange = self._exchange
        if not reusable:
            self._transport.abort()
        elif exchange is not None and self._paused:
            self.resume(exchange)
        if exchange is not None:
            self._exchange = self._forwarder = None
            self._used = True
            if self._writable is not None:
                self._writable.set()
            exchange.end(error)
            self._on_free(self, reusable)
            exchange.wake()

    def pause(self, exchange: HttpExchange) -> None:
        if exchange is self._exchange and not self._paused:
            self._paused = True
            self._transport.pause_reading()
            self._timer.due = exchange.deadline

    def resume(self, exchange: HttpExchange) -> None:
        if exchange is self._exchange and self._paused:
            self._paused = False
            self._transport.resume_reading()
            self._set_deadline(exchange.deadlines.silence, exchange)

    def _set_deadline(self, seconds: float, exchange: HttpExchange) -> None:
        self._timer.set(min(self.loop.time() + seconds, exchange.deadline))

    def _on_deadline(self) -> None:
        exchange, phase = self._exchange, "head"
        if exchange is not None and self.loop.time() >= exchange.deadline:
            phase = "whole"
        elif exchange is not None and self._timer.due == exchange.sent_at + exchange.deadlines.first_byte:
            phase = "first"
        elif self._reader.status:
            phase = "silence"
        self.end(late_answer(phase))
