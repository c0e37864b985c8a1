"""The sockets that workers accept connections on: opened here, or passed on by a service manager."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from time import monotonic, sleep
from typing import Final

BACKLOG: Final = 2048
MAX_ORPHANS: Final = 1.0  # seconds for the workers of a gateway that was killed to leave the port
MAX_UNSENT: Final = 256 * 1024  # bytes per client in the kernel's send buffer; by default it grows to megabytes


def listen(host: str, port: int, workers: int) -> list[socket.socket]:
    """One socket per worker, all at the same address. Raises OSError if the address is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if workers > 1:
        _require_free(host, port, family)
    sockets: list[socket.socket] = []
    for _ in range(workers):
        bound = socket.create_server((host, port), family=family, backlog=BACKLOG, reuse_port=workers > 1)
        sockets.append(limit_unsent(bound))
        port = bound.getsockname()[1]
    return sockets


def _require_free(host: str, port: int, family: int) -> None:
    """Raise OSError if another program listens there: SO_REUSEPORT would share its port with this one, unnoticed."""
    deadline = monotonic() + MAX_ORPHANS
    while True:
        try:
            socket.create_server((host, port), family=family).close()
            return
        except OSError as error:
            if error.errno != errno.EADDRINUSE or monotonic() > deadline:
                raise
        sleep(0.05)


def limit_unsent(bound: socket.socket) -> socket.socket:
    """Bound what the kernel buffers for each client of a socket."""
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MAX_UNSENT)
    return bound


def sockets_of(index: int, workers: int, sockets: Sequence[socket.socket]) -> list[socket.socket]:
    """Those of worker `index`: each worker has one at least, and each socket a worker at least."""
    return list(sockets[index::workers]) or [sockets[index % len(sockets)]]


def addresses_of(sockets: Sequence[socket.socket]) -> list[tuple[str, int]]:
    """Host and port of each."""
    return [sock.getsockname()[:2] for sock in sockets]
