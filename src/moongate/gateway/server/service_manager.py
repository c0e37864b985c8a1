"""systemd as the one who started the gateway: readiness, watchdog and listening sockets, over its plain protocols.

A notification is a datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)); sockets that systemd has opened
are descriptors from 3 on (sd_listen_fds(3)). Without the variables nothing is sent and nothing is inherited.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Mapping
from typing import Final

from moongate.errors import ConfigError

FIRST_DESCRIPTOR: Final = 3
MAX_DESCRIPTORS: Final = 64
WATCHDOG_SHARE: Final = 3  # keep-alives are sent this many times within the time that systemd allows


class ServiceManager:
    """Implements `ServerObserver`. `address` is that of the notification socket, `watchdog` seconds; "" and 0: none."""

    def __init__(self, address: str = "", watchdog: float = 0.0, sockets: tuple[socket.socket, ...] = ()) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._interval = watchdog / WATCHDOG_SHARE
        self._next_heartbeat = 0.0
        self.sockets = sockets  # that it listens on for us

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], pid: int) -> ServiceManager:
        """The manager of the process `pid`. Raises ConfigError if a socket that was passed cannot be served."""
        address = environ.get("NOTIFY_SOCKET", "")
        watchdog = 0.0
        if environ.get("WATCHDOG_PID", str(pid)) == str(pid):
            watchdog = _number(environ, "WATCHDOG_USEC") / 1e6
        count = _number(environ, "LISTEN_FDS") if environ.get("LISTEN_PID") == str(pid) else 0
        if count > MAX_DESCRIPTORS:
            raise ConfigError(f"expected at most {MAX_DESCRIPTORS} sockets, found {count}", path="LISTEN_FDS")
        descriptors = range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + count)
        return cls(address if address[:1] in ("/", "@") else "", watchdog, tuple(map(_listening_socket, descriptors)))

    @property
    def has_watchdog(self) -> bool:
        """Does it end and start again a process that sends no heartbeat?"""
        return bool(self._address and self._interval)

    def ready(self) -> None:
        self._send("READY=1")

    def heartbeat(self) -> None:
        if self._interval and (now := time.monotonic()) >= self._next_heartbeat:
            self._next_heartbeat = now + self._interval
            self._send("WATCHDOG=1")

    def reloading(self) -> None:
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def reloaded(self) -> None:
        self._send("READY=1")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    def _send(self, text: str) -> None:
        """Never waits and never fails: a manager that does not listen must not stop the gateway."""
        if self._address:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto(text.encode(), self._address)


def _number(environ: Mapping[str, str], name: str) -> int:
    text = environ.get(name, "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _listening_socket(descriptor: int) -> socket.socket:
    try:
        found = socket.socket(fileno=descriptor)
        listens = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError as error:
        raise ConfigError(f"descriptor {descriptor} is no socket: {error.strerror}", path="LISTEN_FDS") from None
    if found.family not in (socket.AF_INET, socket.AF_INET6) or found.type != socket.SOCK_STREAM or not listens:
        raise ConfigError(f"descriptor {descriptor} is no listening TCP socket (Accept=no)", path="LISTEN_FDS")
    found.set_inheritable(False)
    return found
