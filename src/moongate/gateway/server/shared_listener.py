"""A listening socket that all workers have inherited and one of them serves at a time.

Which one is decided by a lock on a file; the kernel gives it back when its holder dies, and another worker takes over
within half a second. Connections that come meanwhile wait in the socket's queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from moongate.gateway.file_lock import lock_file

ELECTION_SECONDS: Final = 0.5  # between tries to become the one that serves


class SharedListener:
    """`start` in the event loop of each worker. `lock` None: there is only one worker."""

    def __init__(self, sock: socket.socket, lock: Path | None = None) -> None:
        self._socket = sock
        self._path = lock
        self._descriptor = -1
        self._server: asyncio.Server | None = None
        self._election: asyncio.Task[None] | None = None

    def start(self, make_protocol: Callable[[], asyncio.Protocol]) -> None:
        """`make_protocol` makes what handles one connection."""
        self._election = asyncio.get_running_loop().create_task(self._serve(make_protocol))

    async def _serve(self, make_protocol: Callable[[], asyncio.Protocol]) -> None:
        while self._path is not None and not self._elected(self._path):
            await asyncio.sleep(ELECTION_SECONDS)
        self._server = await asyncio.get_running_loop().create_server(make_protocol, sock=self._socket)

    def _elected(self, path: Path) -> bool:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        with contextlib.suppress(BlockingIOError):
            lock_file(descriptor)
            self._descriptor = descriptor
            return True
        os.close(descriptor)
        return False

    def close(self) -> None:
        """Accept nothing more in this worker. Connections that are open stay."""
        if self._election is not None:
            self._election.cancel()
        if self._server is not None:
            self._server.close()
            self._server = None
        self._socket.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
