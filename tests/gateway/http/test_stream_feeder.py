"""Large events of a stream are read in a thread, in order, and the loop serves others meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from moongate.errors import BadUpstream
from moongate.gateway.http.stream_feeder import OFFLOAD_CHARS, OFFLOAD_LINES, OFFLOAD_PENDING, StreamFeeder
from moongate.gateway.server.activity import Activity

pytestmark = pytest.mark.interpreted("brings a session of its own")

LARGE = b"L" * (OFFLOAD_PENDING + 1)


class Parts:
    """Session, response and stream in one: they note what is asked of them."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.delivered: list[bytes] = []
        self.finished = self.paused = False
        self.task = "the task"
        self.fails = False
        self.failure: BadUpstream | None = None
        self.size = 0
        self.threads: set[bool] = set()

    # The session.

    def feed(self, data: bytes) -> bytes:
        self.threads.add(threading.current_thread() is threading.main_thread())
        if len(data) > OFFLOAD_PENDING:
            time.sleep(0.2)
        if self.fails:
            raise BadUpstream("broken")
        return data[:5]

    def close(self) -> bytes:
        self.threads.add(threading.current_thread() is threading.main_thread())
        return b"end"

    # The response.

    def pause(self) -> None:
        self.steps.append("pause")

    def resume(self) -> None:
        self.steps.append("resume")

    def stop(self) -> None:
        self.steps.append("close")

    # The stream.

    def suspend_forwarding(self) -> None:
        self.steps.append("suspend")

    def deliver(self, out: bytes) -> None:
        self.delivered.append(out)


class ResponseOf:
    """The response's part: its `close` is not the session's."""

    def __init__(self, parts: Parts) -> None:
        self.pause, self.resume, self.close = parts.pause, parts.resume, parts.stop


def feeder_of(parts: Parts, *, is_long: bool = False) -> StreamFeeder:
    return StreamFeeder(parts, ResponseOf(parts), Activity(), parts, bytes.upper, is_long=is_long)  # type: ignore[arg-type]


def test_small_reads_are_fed_at_once() -> None:
    parts = Parts()

    async def run() -> None:
        feeder = feeder_of(parts)
        feeder.feed(b"small")
        await feeder.settle()
        assert await feeder.end(parts.close) == b"end"

    asyncio.run(run())
    assert (parts.delivered, parts.steps, parts.threads) == ([b"small"], [], {True})


@pytest.mark.parametrize("data", [b"data: [DONE]\n\n", b'data: {"tool_calls": []}\n\n', b"NE]\n\n"])
def test_the_end_of_an_answer_to_a_long_request_is_for_a_thread(data: bytes) -> None:
    """The guard may read the whole request again there."""
    parts = Parts()

    async def run() -> None:
        feeder = feeder_of(parts, is_long=True)
        feeder.feed(b"data: text of an answer\n\n")
        assert parts.threads == {True}
        feeder.feed(data)
        await feeder.settle()
        assert parts.threads == {True, False}
        parts.threads.clear()
        assert await feeder.end(parts.close) == b"end"
        assert parts.threads == {False}

    asyncio.run(run())


def test_a_large_read_is_fed_in_a_thread_and_nothing_overtakes_it() -> None:
    parts = Parts()
    ticks = 0

    async def run() -> None:
        nonlocal ticks
        feeder = feeder_of(parts)
        feeder.feed(LARGE)
        feeder.feed(b"next")
        feeder.feed(LARGE.lower())
        feeder.feed(b"last")
        assert parts.delivered == []
        done = asyncio.ensure_future(feeder.settle())
        while not done.done():
            ticks += 1
            await asyncio.sleep(0.01)

    asyncio.run(run())
    assert parts.delivered == [b"LLLLL", b"next", b"lllll", b"last"]
    assert parts.steps[:2] == ["suspend", "pause"]
    assert parts.steps[-1] == "resume"
    assert parts.threads == {True, False}
    assert ticks > 10  # the loop was free


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_read_of_many_lines_is_fed_in_a_thread(end: bytes) -> None:
    """Each of them may be an event that is no JSON, or nothing at all."""
    parts = Parts()

    async def run() -> None:
        feeder = feeder_of(parts)
        feeder.feed(b"x" * 2 * OFFLOAD_LINES + end * OFFLOAD_LINES)
        await feeder.settle()
        assert parts.threads == {True}
        feeder.feed(end * (OFFLOAD_LINES + 1))
        await feeder.settle()

    asyncio.run(run())
    assert parts.threads == {True, False}


def test_it_stays_paused_if_the_client_has_fallen_behind() -> None:
    parts = Parts()
    parts.paused = True

    async def run() -> None:
        feeder = feeder_of(parts)
        feeder.feed(LARGE)
        await feeder.settle()

    asyncio.run(run())
    assert "resume" not in parts.steps


def test_what_a_thread_raises_is_raised_where_the_stream_is_waited_for() -> None:
    parts = Parts()
    parts.fails = True

    async def run() -> None:
        feeder = feeder_of(parts)
        feeder.feed(LARGE)
        with pytest.raises(BadUpstream, match="broken"):
            await feeder.settle()

    asyncio.run(run())
    assert "close" in parts.steps


def test_the_output_for_a_client_that_has_left_is_dropped() -> None:
    parts = Parts()

    async def run() -> None:
        feeder = feeder_of(parts)
        feeder.feed(LARGE)
        feeder.stop()
        await feeder.idle()

    asyncio.run(run())
    assert parts.delivered == []


def test_nothing_is_read_after_the_end() -> None:
    parts = Parts()
    parts.finished = True
    feeder_of(parts).feed(b"more")
    assert parts.delivered == []


def test_a_session_that_holds_much_is_closed_in_a_thread() -> None:
    class Holding(Parts):
        def feed(self, _: bytes) -> bytes:
            return b""

    parts = Holding()

    async def run() -> None:
        feeder = feeder_of(parts)
        feeder.feed(LARGE)
        await feeder.settle()
        assert await feeder.end(parts.close) == b"end"

    asyncio.run(run())
    assert parts.threads == {False}


def test_behind_a_long_answer_small_reads_and_the_end_are_for_a_thread() -> None:
    parts = Parts()
    parts.size = OFFLOAD_CHARS + 1

    async def run() -> None:
        feeder = feeder_of(parts)
        feeder.feed(b"small")
        await feeder.settle()
        assert await feeder.end(parts.close) == b"end"

    asyncio.run(run())
    assert (parts.delivered, parts.threads) == ([b"small"], {False})


@pytest.mark.parametrize("size", [0, OFFLOAD_CHARS + 1])
def test_what_leaves_with_an_error_has_no_secrets(size: int) -> None:
    parts = Parts()
    parts.failure, parts.size = BadUpstream("broken"), size

    async def run() -> None:
        feeder = feeder_of(parts)
        feeder.feed(b"small")
        await feeder.settle()
        assert await feeder.end(parts.close) == b"END"

    asyncio.run(run())
    assert parts.delivered == [b"SMALL"]
