"""A client that has stopped sending while its request is answered: it may wait for the answer, or have left.

TCP tells both by the same FIN. Only what is sent afterwards shows the difference: the machine of a client that has left
answers it with a reset. A stream sends a keep-alive. Before a response has begun, an interim response (100) is sent,
which every client must understand, but not at once, so that answers that come soon are not preceded by it. Both are
sent again and again, more and more seldom: the client may leave later.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from moongate.gateway.server.response_head import CONTINUE

if TYPE_CHECKING:
    from moongate.gateway.server.request_cycle import RequestResponseCycle

PROBE_SECONDS: Final = 0.1  # until the interim response is sent, or the next keep-alive
PROBE_GROWTH: Final = 1.25  # of the time until the next of them
LAST_PROBE: Final = 2.0
FIRST_LOOK: Final = 0.01  # seconds until the socket is looked at; doubles
LAST_LOOK: Final = 0.1


class HalfCloseWatch:
    """Watches one connection from `start` to `stop`. `on_left` is called if the client has gone."""

    __slots__ = ("_look_timer", "_loop", "_on_left", "_poll", "_probe_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_left: Callable[[], None]) -> None:
        self._loop = loop
        self._on_left = on_left
        self._poll: select.poll | None = None
        self._probe_timer: asyncio.TimerHandle | None = None
        self._look_timer: asyncio.TimerHandle | None = None

    def start(self, transport: asyncio.Transport, cycle: RequestResponseCycle) -> None:
        """`cycle` is the request that is being answered, the last one on this connection."""

        def probe(seconds: float) -> None:
            if cycle.started:
                cycle.half_close()
            elif cycle.persistent and not cycle.done:
                transport.write(CONTINUE)
            self._look_soon()
            self._probe_timer = self._loop.call_later(seconds, probe, min(seconds * PROBE_GROWTH, LAST_PROBE))

        self._poll = select.poll()
        self._poll.register(transport.get_extra_info("socket").fileno(), 0)  # errors and resets are always reported
        self._probe_timer = self._loop.call_later(PROBE_SECONDS, probe, PROBE_SECONDS * PROBE_GROWTH)
        cycle.half_close()
        self._look(FIRST_LOOK)

    def stop(self) -> None:
        for timer in (self._probe_timer, self._look_timer):
            if timer is not None:
                timer.cancel()
        self._probe_timer = self._look_timer = self._poll = None

    def _look_soon(self) -> None:
        if self._look_timer is not None:
            self._look_timer.cancel()
        self._look_timer = self._loop.call_later(FIRST_LOOK, self._look, FIRST_LOOK)

    def _look(self, seconds: float) -> None:
        if self._poll is None:
            return
        if self._poll.poll(0):
            self._on_left()
        else:
            self._look_timer = self._loop.call_later(seconds, self._look, min(2 * seconds, LAST_LOOK))
