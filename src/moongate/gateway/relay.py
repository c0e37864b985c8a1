"""One streamed answer: the upstream's reads → the session → the client's socket, without a task in between.

Status 200 is committed when the first event has come, or after `commit` seconds. What fails before that is raised, so
that it can be tried again or told with its own status; what fails after it becomes one in-band error, then the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from moongate.chat.contracts import Dialect
from moongate.chat.groove import Groove
from moongate.errors import GatewayError, UpstreamTimeout
from moongate.gateway.config.settings import Timeouts
from moongate.gateway.outlet import HeaderList, Outlet
from moongate.gateway.pulse import Pulse
from moongate.net.contract import Response
from moongate.net.lane import Lane
from moongate.pipeline.session import Session


@dataclass(frozen=True, slots=True)
class Patience:
    """How many beats of the pulse each silence may last."""

    commit: float
    keep_alive: int
    first_event: int
    unread: int

    @classmethod
    def of(cls, timeouts: Timeouts, beat: float) -> Patience:
        def beats(seconds: float) -> int:
            return max(1, round(seconds / beat))

        return cls(
            timeouts.commit, beats(timeouts.keep_alive), beats(timeouts.first_event), beats(timeouts.client_unread)
        )


class Relay:
    """`await run()` until the stream is over. `committed` and `failure` tell how far it came."""

    __slots__ = (
        *("_begun", "_clean", "_dialect", "_groove", "_headers", "_held", "_lane", "_late", "_outlet", "_patience"),
        *("_pulse", "_quiet", "_response", "_session", "_task", "_unread", "_waited", "committed", "failure"),
    )

    def __init__(
        self,
        session: Session,
        dialect: Dialect,
        outlet: Outlet,
        *,
        headers: HeaderList,
        patience: Patience,
        pulse: Pulse,
        begun: Callable[[], None],
        clean: Callable[[str], str] = str,
    ) -> None:
        self._session = session
        self._dialect = dialect
        self._outlet = outlet
        self._headers = headers
        self._patience = patience
        self._pulse = pulse
        self._begun = begun  # called when status 200 leaves
        self._clean = clean  # takes secrets out: a provider may quote our key in an error
        self._response: Response | None = None
        self._groove: Groove | None = None
        self._lane: Lane | None = None
        self._held: list[bytes] = []
        self._quiet = 0  # beats since something was written
        self._waited = 0  # beats without a first event
        self._unread = 0  # beats in which the client read nothing
        self._task = outlet.task or asyncio.current_task()
        self._late: GatewayError | None = None
        self.committed = False
        self.failure: GatewayError | None = None

    async def run(self, response: Response) -> None:
        """Raises GatewayError only if nothing was committed."""
        self._response = response
        self._outlet.on_drain(response.pause, response.resume)
        commit: asyncio.TimerHandle | None = None
        try:
            try:
                rest = response.pipe(self._feed)
                if not self.committed:
                    commit = asyncio.get_running_loop().call_later(self._patience.commit, self._commit)
                await rest
                if not self._session.finished:
                    out = self._session.close()
                    self._send(out if self._session.failure is None else self._cleaned(out))
            except GatewayError as error:
                self._fail(error)
            except asyncio.CancelledError:
                if self._late is None or self._task is None:
                    raise
                self._task.uncancel()
                self._fail(self._late)
            self.failure = self.failure or self._session.failure
            if not self.committed:
                if self.failure is not None:
                    raise self.failure
                self._commit()
            self._outlet.finish()
        finally:
            if commit is not None:
                commit.cancel()
            self._pulse.discard(self)

    def beat(self) -> None:
        """A second has passed."""
        if self._outlet.paused:
            self._unread += 1
            if self._unread >= self._patience.unread:
                self._outlet.drop()
            return
        self._unread = 0
        self._quiet += 1
        if self._lane is not None and self._lane.taken:
            self._lane.taken = False
            self._quiet = 0
        if not self._session.started:
            self._waited += 1
            if self._waited >= self._patience.first_event:
                self._late = UpstreamTimeout("the provider took too long (first event)", code="first_timeout")
                self._cancel()
                return
        if self._quiet >= self._patience.keep_alive:
            self._quiet = 0
            self._outlet.write(self._dialect.keep_alive())

    def _feed(self, data: bytes) -> None:
        session = self._session
        if session.finished:
            return  # nothing after the end is read
        out = session.feed(data)
        if session.failure is not None:
            out = self._cleaned(out)
        if self.committed:
            if out:
                self._quiet = 0
                self._outlet.write(out)
        else:
            self._send(out)
        if session.groove is not self._groove:
            self._express(session.groove)
        if session.finished and self._response is not None:
            if session.failure is None:
                self._response.release()  # the rest of the body may end at once, and the connection live on
            else:
                self._response.close()

    def _express(self, groove: Groove | None) -> None:
        """What runs in the groove goes from socket to socket."""
        assert self._response is not None
        self._groove = groove
        self._lane = None
        if groove is not None and self.committed:
            forward = self._outlet.forwarder() if groove.write is None else self._speaker(groove.write)
            if forward is not None:
                bare = groove.write is not None
                prefix, suffix, ordinary = groove.prefix, groove.suffix, groove.ordinary
                self._lane = Lane(prefix, suffix, ordinary, groove.accepts, forward, groove.limit, bare)
        self._response.express(self._lane)

    def _speaker(self, write: Callable[[bytes], bytes]) -> Callable[[bytes], None]:
        assert self._response is not None
        send, close = self._outlet.write, self._response.close

        def speak(text: bytes) -> None:
            if text:
                out = write(text)
                if out:
                    send(out)
                else:
                    close()  # the answer was too much for the encoder: it has said so, and says no more

        return speak

    def _send(self, out: bytes) -> None:
        """While nothing is committed, hold; the first event decides."""
        if self.committed:
            if out:
                self._outlet.write(out)
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
        self._begun()
        self._outlet.start(200, self._headers, b"".join(self._held))
        self._held.clear()
        self._pulse.add(self)

    def _fail(self, error: GatewayError) -> None:
        if not self.committed:
            raise error
        self.failure = error
        self._outlet.write(self._cleaned(self._session.fail(error)))

    def _cleaned(self, out: bytes) -> bytes:
        return self._clean(out.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
