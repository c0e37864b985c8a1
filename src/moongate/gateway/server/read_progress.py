"""Does a client read what was written to it? A slow reader is kept, one that reads nothing is not."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Callable
from math import inf
from typing import Final

try:
    import fcntl
    import termios
except ImportError:  # Windows: what the kernel holds is not known
    fcntl = None  # type: ignore[assignment]

from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.net.deadlines import DeadlineTimer

CHECKS: Final = 10  # how often the progress is looked at within the time that a client may read nothing


def unread_bytes(transport: asyncio.WriteTransport) -> int:
    """Bytes that were written and not acknowledged yet: those in our buffer, and those in the kernel's."""
    left = transport.get_write_buffer_size()
    if fcntl is None:
        return left
    with contextlib.suppress(OSError, ValueError, AttributeError):  # closed meanwhile, or no socket
        answer = fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, b"\0\0\0\0")
        left += int(struct.unpack("i", answer)[0])
    return left


class ReadWatch:
    """Looks from time to time whether a client reads what was written to it.

    Calls `on_stall` after `limits.unread` seconds without progress. When nothing is left to read it is over, and the
    connection may be idle for a while. `timer` is the connection's, for all its other waits.
    """

    __slots__ = ("_handle", "_limits", "_loop", "_on_stall", "_progress", "_timer", "_transport")

    def __init__(self, timer: DeadlineTimer, limits: ConnectionLimits, on_stall: Callable[[], None]) -> None:
        self._timer = timer
        self._limits = limits
        self._on_stall = on_stall
        self._handle: asyncio.TimerHandle | None = None

    def start(self, transport: asyncio.WriteTransport) -> bool:
        """False: there is nothing to wait for."""
        if not transport.get_write_buffer_size():
            self.stop()
            return False
        self._timer.due = inf
        if self._handle is None:
            self._transport = transport
            self._loop = asyncio.get_running_loop()
            self._progress = ReadProgress(unread_bytes(transport), self._loop.time())
            self._schedule()
        return True

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _schedule(self) -> None:
        self._handle = self._loop.call_later(self._limits.unread / CHECKS, self._look)

    def _look(self) -> None:
        self._handle = None
        left, now = unread_bytes(self._transport), self._loop.time()
        if not left:
            self._timer.set(now + self._limits.idle)
        elif self._progress.look(left, now) >= self._limits.unread:
            self._on_stall()
        else:
            self._schedule()


class ReadProgress:
    """Call `look` repeatedly: it returns for how long nothing was read."""

    __slots__ = ("_left", "_since")

    def __init__(self, left: int, now: float) -> None:
        self._left = left
        self._since = now

    def look(self, left: int, now: float) -> float:
        """Seconds since the last progress, `left` being the bytes that are unread now."""
        if left < self._left:
            self._since = now
        self._left = left
        return now - self._since
