"""The same with a session of the gateway, as machine code too."""

from __future__ import annotations

import asyncio

from tests.gateway.scripted import DONE, chunk

from moongate.chat.base import BaseExchange
from moongate.dialects.fronts import CHAT
from moongate.gateway.http.sessions import new_session
from moongate.gateway.http.stream_feeder import OFFLOAD_PENDING, StreamFeeder
from moongate.gateway.server.activity import Activity

SECONDS = 60.0


class Ends:
    """The response and the stream."""

    paused = False
    task = "the task"

    def __init__(self) -> None:
        self.delivered: list[bytes] = []
        self.closed = False

    def pause(self) -> None:
        pass

    resume = suspend_forwarding = pause

    def close(self) -> None:
        self.closed = True

    def deliver(self, out: bytes) -> None:
        self.delivered.append(out)


def test_large_reads_that_come_while_a_thread_works_are_fed_one_after_the_other() -> None:
    reads = [chunk(letter * 2 * OFFLOAD_PENDING) for letter in "abc"]
    reads = [reads[0], reads[1], chunk("small"), reads[2], DONE]
    ends = Ends()

    async def run() -> None:
        session = new_session(BaseExchange({}), "text/event-stream", CHAT.encoder({}), 1 << 20, 1 << 20)
        feeder = StreamFeeder(session, ends, Activity(), ends, bytes)  # type: ignore[arg-type]
        for read in reads:
            feeder.feed(read)
        await asyncio.wait_for(feeder.settle(), SECONDS)

    asyncio.run(run())
    assert b"".join(ends.delivered) == b"".join(reads)
    assert not ends.closed
