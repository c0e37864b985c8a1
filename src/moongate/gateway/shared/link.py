"""The connection to the shared state: connecting, a circuit breaker, and reconnecting.

The link is up when the server answers. It goes down when the connection is lost or three deadlines in a row were
missed; from then on no request waits for it. In the background it sends a probe until that is answered, or reconnects.
A probe that writes finds out whether the server takes writes: a full one, or a replica, answers everything else.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, Final

from moongate.gateway.shared.address import RedisAddress
from moongate.gateway.shared.connection import PendingCall, RedisConnection
from moongate.gateway.shared.resp import ReplyError, command

DEADLINE_SECONDS: Final = 0.02  # of one command
CONNECT_SECONDS: Final = 2.0  # for connecting and the handshake
MISSED_DEADLINES: Final = 3  # one after another, until the link goes down
PROBE_SECONDS: Final = 0.2  # between probes while it is down
MAX_PROBES: Final = 5  # without a good answer, until it reconnects
MAX_PAUSE_SECONDS: Final = 1.0  # between tries to connect
PING: Final = command("PING")


class StateLink:
    """`start`, `call` while `is_up`, `close`. `on_up` and `on_down` are called when it changes, with the reason."""

    def __init__(
        self,
        address: RedisAddress,
        script: bytes,
        *,
        deadline: float = DEADLINE_SECONDS,
        ca_file: str = "",
        probe: bytes = PING,
        on_up: Callable[[], None] = lambda: None,
        on_down: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.address = address
        self.is_up = False
        self._script = script
        self._deadline = deadline
        self._ca_file = ca_file or None
        self._probe = probe
        self._on_up, self._on_down = on_up, on_down
        self._connection: RedisConnection | None = None
        self._runner: asyncio.Task[None] | None = None
        self._lost = asyncio.Event()
        self._errors = 0  # error replies in a row

    def start(self) -> None:
        self._runner = asyncio.get_running_loop().create_task(self._run(), name="state-link")

    def close(self) -> None:
        self.is_up = False
        if self._runner is not None:
            self._runner.cancel()
        if self._connection is not None:
            self._connection.close(after_sending=True)

    def call(
        self, data: bytes, on_done: Callable[[PendingCall], None] | None = None, *, lingers: bool = False
    ) -> PendingCall:
        """Send a command; the reply of one that cannot be sent is a failure. `lingers`: see `connection`."""
        connection = self._connection
        if connection is None:
            call = PendingCall(0.0, on_done)
            call.finish(None, failed=True)
            return call
        return connection.call(data, on_done, lingers=lingers)

    def check(self, call: PendingCall) -> None:
        """After a call: go down if too many in a row have failed."""
        connection = self._connection
        if connection is None or not self.is_up:
            return
        if isinstance(call.reply, ReplyError):
            self._errors += 1
            if self._errors >= MISSED_DEADLINES or str(call.reply).startswith("NOSCRIPT"):
                self._errors = 0
                self._down(str(call.reply))
                connection.close()  # a new connection loads the script, and finds out who is the master
        elif not call.failed:
            self._errors = 0
        elif connection.timeouts >= MISSED_DEADLINES:
            self._down(f"{connection.timeouts} answers in a row took longer than {self._deadline * 1000:.0f} ms")
            self._lost.set()

    def _down(self, reason: str) -> None:
        if self.is_up:
            self.is_up = False
            self._on_down(reason)

    def _up(self) -> None:
        if not self.is_up:
            self.is_up = True
            self._on_up()

    async def _run(self) -> None:
        pause = 0.05
        while True:
            try:
                connection = await asyncio.wait_for(self._connect(), CONNECT_SECONDS)
            except (OSError, TimeoutError, ssl.SSLError, ReplyError) as error:
                self._first_failure(error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, MAX_PAUSE_SECONDS)
                continue
            pause = 0.05
            self._connection = connection
            while await self._responds(connection):
                self._lost.clear()
                self._up()
                if connection.is_open:
                    await self._lost.wait()
            self._connection = None
            connection.close()

    def _first_failure(self, error: Exception) -> None:
        """The link was never up, so it cannot go down, but the limits must know that it is not up."""
        text = str(error) or "no answer"
        self._on_down(text if isinstance(error, ReplyError) else _reason(error))

    async def _responds(self, connection: RedisConnection) -> bool:
        """Wait until a probe is answered in time, and well. False: reconnect."""
        for _ in range(MAX_PROBES):
            call = connection.call(self._probe)
            await call.wait()
            if isinstance(call.reply, ReplyError):
                self._on_down(str(call.reply))
            elif not call.failed:
                return True
            if not connection.is_open:
                return False
            await asyncio.sleep(PROBE_SECONDS)
        return False

    async def _connect(self) -> RedisConnection:
        address, loop = self.address, asyncio.get_running_loop()

        def connection() -> Any:  # it has all methods of a protocol
            return RedisConnection(self._deadline, self._connection_lost)

        if address.path:
            made: RedisConnection = (await loop.create_unix_connection(connection, address.path))[1]
        else:
            context = ssl.create_default_context(cafile=self._ca_file) if address.is_encrypted else None
            made = (await loop.create_connection(connection, address.host, address.port, ssl=context))[1]
        try:
            await self._handshake(made)
        except BaseException:
            made.close()
            raise
        return made

    async def _handshake(self, connection: RedisConnection) -> None:
        """AUTH, SELECT, SCRIPT LOAD."""
        address = self.address
        commands = []
        if address.password:
            names = [address.user] if address.user else []
            commands.append(command("AUTH", *names, address.password))
        if address.database:
            commands.append(command("SELECT", address.database))
        commands.append(command("SCRIPT", "LOAD", self._script))
        for call in [connection.call(each, deadline=CONNECT_SECONDS) for each in commands]:
            await call.wait()
            if call.failed:
                raise TimeoutError
            if isinstance(call.reply, ReplyError):
                raise call.reply

    def _connection_lost(self) -> None:
        self._down("the connection was lost")
        self._lost.set()


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)
