"""The client against good and hostile servers, on both event loops."""

from __future__ import annotations

import asyncio
import os
import socket

import pytest
from tests.net.hostile import CHUNKED, OK, Hostile, Peer, on_both_loops, repeats, run, sends

from moongate.errors import BadUpstream, ConfigError, GatewayError, Overloaded, UpstreamTimeout
from moongate.net import http_exchange as exchange_module
from moongate.net.client import HttpClient
from moongate.net.deadlines import Deadlines
from moongate.net.forward import ChunkForwarder
from moongate.wire.fast import TextMatcher

pytestmark = on_both_loops
SHORT = 0.15


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def refusal(hostile: Hostile, deadlines: Deadlines | None = None) -> GatewayError:
    """The error that one exchange ends with."""
    with pytest.raises(GatewayError) as caught:
        await hostile.answer(deadlines=deadlines)
    return caught.value


def test_what_is_sent(loop: str) -> None:
    async def main() -> bytes:
        seen: list[bytes] = []

        async def script(peer: Peer) -> None:
            seen.append(await peer.request())
            await peer.send(OK)

        async with Hostile(script) as hostile:
            headers = [(b"Authorization", b"Bearer k"), (b"Content-Type", b"application/json")]
            response = await hostile.client.send("POST", "/v1/x?y", headers, b"body", deadlines=Deadlines())
            assert await response.read(10) == b"ok"
            host = b"127.0.0.1:%d" % hostile.port
            return seen[0].replace(host, b"HOST")

    assert run(loop, main()) == (
        b"POST /v1/x?y HTTP/1.1\r\nHost: HOST\r\nAccept-Encoding: identity\r\n"
        b"Authorization: Bearer k\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nbody"
    )


def test_a_connection_is_used_again(loop: str) -> None:
    async def main() -> None:
        async with Hostile(repeats(b"HTTP/1.1 200 OK\r\nContent-", b"Length: 2\r\n\r", b"\nok")) as hostile:
            for _ in range(3):
                assert await hostile.answer() == b"ok"
            assert hostile.connections == 1

    run(loop, main())


@pytest.mark.parametrize(
    "answer",
    [
        OK + OK,
        OK + b"H",
        OK + b"\0",
        OK.replace(b"OK", b"OK\r\nConnection: close"),
        OK.replace(b"1.1", b"1.0"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        CHUNKED + b"2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n",
    ],
)
def test_a_connection_is_not_used_again(loop: str, answer: bytes) -> None:
    async def main() -> None:
        async with Hostile(repeats(answer)) as hostile:
            for _ in range(3):
                assert await hostile.answer() == b"ok"
            assert hostile.connections == 3

    run(loop, main())


def test_late_surplus_never_reaches_the_next_request(loop: str) -> None:
    async def main() -> None:
        stray = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"

        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(OK)
            sent.clear()
            await asyncio.sleep(0.02)
            await peer.send(stray)
            sent.set()
            await peer.closed()

        sent = asyncio.Event()
        async with Hostile(script) as hostile:
            for _ in range(4):
                assert await hostile.answer() == b"ok"
                await sent.wait()
            assert hostile.connections == 4

    run(loop, main())


def test_surplus_bytes_that_the_loop_has_not_read_yet(loop: str) -> None:
    """The bytes are in the kernel, and no callback has run since: the check before reuse finds them."""

    async def main() -> None:
        stray = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
        peers: list[Peer] = []

        async def script(peer: Peer) -> None:
            peers.append(peer)
            while True:
                await peer.request()
                await peer.send(OK)

        async with Hostile(script) as hostile:
            assert await hostile.answer() == b"ok"
            os.write(peers[0].writer.get_extra_info("socket").fileno(), stray)
            assert await hostile.answer() == b"ok"
            assert hostile.connections == 2

    run(loop, main())


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("more", [b"x", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"])
def test_after_surplus_bytes_nothing_is_reused(loop: str, late: bool, more: bytes) -> None:
    """After one such event every request gets a connection of its own."""

    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await (peer.send(OK, more) if late else peer.send(OK + more))
            await peer.closed()

        async with (
            Hostile(repeats(OK), script, repeats(OK)) as hostile,
            Hostile(repeats(OK)) as other,
        ):
            slow = asyncio.create_task(hostile.answer(), name="holds the first connection")
            await asyncio.sleep(0)
            assert await hostile.answer() == b"ok"
            assert await slow == b"ok"
            while not hostile.client._pool._no_reuse_until:
                await asyncio.sleep(0.005)
            for _ in range(3):
                assert await hostile.answer() == await other.answer() == b"ok"
            assert (hostile.connections, other.connections) == (5, 1)

    run(loop, main())


def test_connections_are_reused_again_after_a_while(loop: str) -> None:
    async def main() -> None:
        async with Hostile(sends(OK + b"x"), repeats(OK), no_reuse_seconds=0.0) as hostile:
            for _ in range(4):
                assert await hostile.answer() == b"ok"
                await asyncio.sleep(0.01)
            assert hostile.connections == 2

    run(loop, main())


def test_a_cleanly_closed_connection_does_not_stop_reuse(loop: str) -> None:
    async def main() -> None:
        peers: list[Peer] = []

        async def script(peer: Peer) -> None:
            peers.append(peer)
            await repeats(OK)(peer)

        async with Hostile(script) as hostile:
            for _ in range(2):
                assert await hostile.answer() == b"ok"
            os_end(peers[0])
            for _ in range(3):
                assert await hostile.answer() == b"ok"
            assert hostile.connections == 2

    run(loop, main())


def os_end(peer: Peer) -> None:
    """End what we send, at once: the client's loop has not seen it yet when the next request is made."""
    with socket.socket(fileno=os.dup(peer.writer.get_extra_info("socket").fileno())) as sock:
        sock.shutdown(socket.SHUT_WR)


def test_a_dead_reused_connection_is_replaced_by_one_silent_retry(loop: str) -> None:
    async def main() -> None:
        async def dies_on_the_second(peer: Peer) -> None:
            await peer.request()
            await peer.send(OK)
            await peer.request()
            peer.reset()

        async with Hostile(dies_on_the_second, repeats(OK)) as hostile:
            assert [await hostile.answer() for _ in range(3)] == [b"ok"] * 3
            assert hostile.connections == 2

    run(loop, main())


def test_a_fresh_connection_that_dies_is_not_retried(loop: str) -> None:
    async def main() -> None:
        async def dies(peer: Peer) -> None:
            await peer.request()
            peer.reset()

        async with Hostile(dies) as hostile:
            assert (await refusal(hostile)).code == "closed"
            assert hostile.connections == 1

    run(loop, main())


def test_a_connection_that_dies_as_it_is_made(loop: str) -> None:
    async def main() -> None:
        async def dies(peer: Peer) -> None:
            peer.reset()

        async with Hostile(dies) as hostile:
            for _ in range(5):
                assert (await refusal(hostile)).code == "closed"

    run(loop, main())


def test_a_kept_connection_that_dies_after_a_byte_is_not_retried(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(OK)
            await peer.request()
            await peer.send(b"H")

        async with Hostile(script) as hostile:
            assert await hostile.answer() == b"ok"
            assert (await refusal(hostile)).code == "cut"
            assert hostile.connections == 1

    run(loop, main())


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([], "closed"),
        ([b"HTTP/1.1 200 OK\r\nContent-Le"], "cut"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b"hel"], "cut"),
        ([CHUNKED + b"5\r\nhello\r\n"], "cut"),
        ([CHUNKED + b"5\r\nhel"], "cut"),
        ([CHUNKED + b"5\r\nhello\r\n0\r\n"], "cut"),
        ([CHUNKED + b"5\r\nhello\r\n", b"zz\r\n"], "bad_http"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"], "bad_http"),
        ([b"220 mail.example ESMTP\r\n"], "bad_http"),
        ([b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20000], "bad_http"),
        ([OK.replace(b"OK", b"OK\r\nContent-Encoding: gzip")], "compressed"),
        ([b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (1 << 20) + b"y"], "too_large"),
    ],
)
def test_a_broken_answer_is_an_error(loop: str, parts: list[bytes], code: str) -> None:
    async def main() -> None:
        async with Hostile(sends(*parts)) as hostile:
            error = await refusal(hostile)
            assert (type(error), error.code) == (BadUpstream, code)

    run(loop, main())


def test_a_reset_in_a_body_without_length_is_an_error(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(b"HTTP/1.1 200 OK\r\n\r\nhalf")
            await seen.wait()
            peer.reset()

        seen = asyncio.Event()
        async with Hostile(script) as hostile:
            response = await hostile.ask()
            with pytest.raises(BadUpstream):
                await response.pipe(lambda _: seen.set())

    run(loop, main())


def test_a_body_that_ends_with_the_connection(loop: str) -> None:
    async def main() -> None:
        async with Hostile(sends(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo")) as hostile:
            assert await hostile.answer() == b"hello"
            assert await hostile.answer() == b"hello"
            assert hostile.connections == 2

    run(loop, main())


@pytest.mark.parametrize(
    ("parts", "deadlines", "code"),
    [
        ([], Deadlines(5, SHORT, 5, 5, 9), "head_timeout"),
        ([b"HTTP/1.1 200 OK\r\n"] + [b"a: b\r\n"] * 40, Deadlines(5, SHORT, 5, 5, 9), "head_timeout"),
        ([CHUNKED], Deadlines(5, 5, SHORT, 5, 9), "first_timeout"),
        ([CHUNKED], Deadlines(5, 5, 5, SHORT, 9), "silence_timeout"),
        ([CHUNKED, b"2\r\nok\r\n"], Deadlines(5, 5, 5, SHORT, 9), "silence_timeout"),
        ([CHUNKED] + [b"2\r\nok\r\n"] * 40, Deadlines(5, 5, 5, 5, SHORT), "whole_timeout"),
    ],
)
def test_each_phase_has_its_deadline(loop: str, parts: list[bytes], deadlines: Deadlines, code: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(*parts, pause=0.02)
            closed.set_result(await peer.closed())

        closed = asyncio.get_running_loop().create_future()
        async with Hostile(script) as hostile:
            error = await refusal(hostile, deadlines)
            assert (type(error), error.code) == (UpstreamTimeout, code)
            if len(parts) < 3:
                assert await closed

    run(loop, main())


def test_bytes_postpone_the_silence_deadline(loop: str) -> None:
    async def main() -> None:
        parts = [CHUNKED, *[b"2\r\nok\r\n"] * 10, b"0\r\n\r\n"]
        async with Hostile(sends(*parts, pause=0.2)) as hostile:
            assert await hostile.answer(deadlines=Deadlines(5, 5, 5, 1.5, 20)) == b"ok" * 10

    run(loop, main())


@pytest.mark.parametrize("phase", ["head", "pipe", "read"])
def test_cancelling_closes_the_socket(loop: str, phase: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            if phase != "head":
                await peer.send(CHUNKED + b"2\r\nok\r\n")
            asked.set()
            closed.set_result(await peer.closed())

        asked, closed = asyncio.Event(), asyncio.get_running_loop().create_future()

        async def exchange(hostile: Hostile) -> None:
            response = await hostile.ask()
            await (response.pipe(lambda _: None) if phase == "pipe" else response.read(99))

        async with Hostile(script) as hostile:
            task = asyncio.create_task(exchange(hostile))
            await asked.wait()
            await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await closed

    run(loop, main())


def test_a_sink_is_called_with_the_bytes_as_they_arrive(loop: str) -> None:
    async def main() -> None:
        parts = [CHUNKED, b"2\r\nab\r\n2\r\ncd\r\n", b"2\r\nef\r\n", b"0\r\n\r\n"]
        async with Hostile(sends(*parts, pause=0.05)) as hostile:
            got: list[bytes] = []
            response = await hostile.ask()
            assert (response.status, response.headers) == (200, {b"transfer-encoding": b"chunked"})
            await response.pipe(got.append)
            assert got == [b"abcd", b"ef"]

    run(loop, main())


@pytest.mark.parametrize("held", [True, False])
def test_an_error_of_the_sink_ends_the_exchange(loop: str, held: bool) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(*([CHUNKED + b"2\r\nok\r\n"] if held else [CHUNKED, b"2\r\nok\r\n"]), pause=0.05)
            closed.set_result(await peer.closed())

        def sink(data: bytes) -> None:
            raise ZeroDivisionError

        closed = asyncio.get_running_loop().create_future()
        async with Hostile(script) as hostile:
            response = await hostile.ask()
            with pytest.raises(ZeroDivisionError):
                await response.pipe(sink)
            assert await closed

    run(loop, main())


@pytest.mark.parametrize("when", ["before", "in the sink"])
def test_close_ends_pipe_and_socket(loop: str, when: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(CHUNKED + b"2\r\nok\r\n", b"2\r\nno\r\n", pause=0.05)
            closed.set_result(await peer.closed())

        closed = asyncio.get_running_loop().create_future()
        async with Hostile(script) as hostile:
            response = await hostile.ask()
            got: list[bytes] = []

            def sink(data: bytes) -> None:
                got.append(data)
                response.close()

            if when == "before":
                response.close()
            else:
                await response.pipe(sink)
                assert got == [b"ok"]
            assert await closed
            response.close()

    run(loop, main())


@pytest.mark.parametrize(
    ("rest", "connections"), [(b"0\r\n\r\n", 1), (b"2\r\nno\r\n0\r\n\r\n", 2), (b"", 2), (b"zz", 2)]
)
def test_release_keeps_the_connection_only_if_the_body_ends(loop: str, rest: bytes, connections: int) -> None:
    async def main() -> None:
        async with Hostile(repeats(CHUNKED + b"2\r\nok\r\n", rest)) as hostile:
            response = await hostile.ask()
            got: list[bytes] = []

            def sink(data: bytes) -> None:
                got.append(data)
                response.release()

            await response.pipe(sink)
            assert got == [b"ok"]
            await asyncio.sleep(exchange_module.RELEASE_SECONDS * 1.6)
            response.release()
            (await hostile.ask()).close()
            assert hostile.connections == connections

    run(loop, main())


def test_back_pressure(loop: str) -> None:
    async def main() -> None:
        size = 32 << 20

        async def script(peer: Peer) -> None:
            await peer.request()
            peer.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            for _ in range(size >> 16):
                peer.writer.write(b"x" * (1 << 16))
                await peer.writer.drain()
                sent.append(1 << 16)
            await peer.closed()

        sent: list[int] = []
        got: list[int] = []
        async with Hostile(script) as hostile:
            deadlines = Deadlines(5, 5, 5, 0.2, 20)
            response = await hostile.ask(deadlines=deadlines)
            await asyncio.sleep(0.5)  # nobody reads: the socket is paused, and that is not silence
            assert sum(sent) < size
            before = sum(sent)

            def sink(data: bytes) -> None:
                got.append(len(data))
                if len(got) == 5:
                    response.pause()
                    response.pause()
                    asyncio.get_running_loop().call_later(0.5, response.resume)

            await response.pipe(sink)
            assert sum(got) == size > before

    run(loop, main())


def test_forwarded_reads_do_not_set_a_paused_deadline(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(CHUNKED, b"3\r\n<a>\r\n", b"3\r\n<b>\r\n", b"0\r\n\r\n", pause=0.05)

        async with Hostile(script) as hostile:
            response = await hostile.ask(deadlines=Deadlines(5, 5, 5, 0.2, 20))
            got: list[bytes] = []

            def full(data: bytes) -> None:
                got.append(data)
                response.pause()  # as a client does that falls behind
                asyncio.get_running_loop().call_later(0.5, response.resume)

            response.forward(ChunkForwarder(TextMatcher(b"<", b">", b"", 99), full))
            await response.pipe(got.append)
            assert got == [b"<a>", b"3\r\n<b>\r\n"]

    run(loop, main())


def test_an_error_of_the_forwarder_is_raised_like_one_of_the_sink(loop: str) -> None:
    def closed(data: bytes) -> None:
        raise RuntimeError(data.decode())  # as a transport of uvloop that is closed

    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(CHUNKED, b"3\r\n<a>\r\n", b"3\r\n<b>\r\n", pause=0.05)
            await peer.closed()

        async with Hostile(script) as hostile:
            response = await hostile.ask()
            response.forward(ChunkForwarder(TextMatcher(b"<", b">", b"", 99), closed))
            with pytest.raises(RuntimeError, match="<b>"):
                await response.pipe(lambda _: None)

    run(loop, main())


def test_a_connection_that_is_paused_at_the_last_byte_is_reused(loop: str) -> None:
    async def once(hostile: Hostile) -> None:
        response = await hostile.ask()
        got: list[bytes] = []

        def sink(data: bytes) -> None:
            response.pause()
            got.append(data)

        await response.pipe(sink)
        response.pause()
        assert got == [b"ok"]

    async def main() -> None:
        async with Hostile(repeats(OK)) as hostile:
            for _ in range(3):
                await once(hostile)
            assert hostile.connections == 1

    run(loop, main())


def test_an_early_answer_is_read_and_the_connection_dropped(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.reader.readuntil(b"\r\n\r\n")
            await peer.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
            await peer.closed()

        async with Hostile(script) as hostile:
            for _ in range(2):
                response = await hostile.ask(b"x" * (16 << 20))
                assert (response.status, await response.read(9)) == (413, b"no")
            assert hostile.connections == 2

    run(loop, main())


def test_a_large_body_is_sent_whole(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            seen.append(await peer.request())
            await peer.send(OK)

        seen: list[bytes] = []
        body = bytes(range(256)) * (4 << 12)
        async with Hostile(script) as hostile:
            assert await hostile.answer(body) == b"ok"
            assert seen[0].endswith(body)

    run(loop, main())


def test_many_cancellations_release_all_slots(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            while True:
                request = await peer.request()
                if b"slow" in request:
                    await peer.send(CHUNKED, b"1\r\nx\r\n")
                    await peer.closed()
                await peer.send(OK)

        async with Hostile(script) as hostile:
            client = HttpClient(hostile.origin, connections=10)
            before = descriptors()

            async def once(body: bytes) -> bytes:
                return await (await client.send("POST", "/", [], body, deadlines=Deadlines())).read(99)

            for _ in range(3):
                tasks = [asyncio.create_task(once(b"slow")) for _ in range(30)]
                await asyncio.sleep(0.03)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            assert await asyncio.gather(*[once(b"ok") for _ in range(30)]) == [b"ok"] * 30
            client.close()
            for _ in range(100):
                await asyncio.sleep(0.02)
                if descriptors() <= before:
                    break
            assert descriptors() <= before

    run(loop, main())


def test_a_full_pool_refuses_after_a_while(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.closed()

        async with Hostile(script) as hostile:
            client = HttpClient(hostile.origin, connections=1)
            deadlines = Deadlines(SHORT, 5, 5, 5, 5)
            first = asyncio.create_task(client.send("GET", "/", [], b"", deadlines=deadlines))
            await asyncio.sleep(0.02)
            with pytest.raises(Overloaded):
                await client.send("GET", "/", [], b"", deadlines=deadlines)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first

    run(loop, main())


@pytest.mark.parametrize("steps", range(4))
def test_a_caller_that_is_cancelled_as_it_gets_a_slot_is_cancelled(loop: str, steps: int) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.closed()

        async with Hostile(script, script, repeats(OK)) as hostile:
            client = HttpClient(hostile.origin, connections=1)
            first = asyncio.create_task(client.send("GET", "/", [], b"", deadlines=Deadlines()))
            await asyncio.sleep(0.02)
            second = asyncio.create_task(client.send("GET", "/", [], b"", deadlines=Deadlines()))
            await asyncio.sleep(0.02)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            for _ in range(steps):
                await asyncio.sleep(0)
            second.cancel()
            done, _ = await asyncio.wait({second}, timeout=10)
            assert done
            assert second.cancelled()
            client.close()

    run(loop, main())


def test_an_idle_connection_expires(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(OK)
            closed.set_result(await peer.closed())

        closed = asyncio.get_running_loop().create_future()
        async with Hostile(script, repeats(OK), idle_seconds=0.05) as hostile:
            assert await hostile.answer() == b"ok"
            assert await closed
            assert await hostile.answer() == b"ok"
            assert hostile.connections == 2

    run(loop, main())


def test_closing_the_client_closes_a_busy_connection_at_its_end(loop: str) -> None:
    async def main() -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send(CHUNKED + b"2\r\nok\r\n", b"0\r\n\r\n", pause=0.05)
            closed.set_result(await peer.closed())

        closed = asyncio.get_running_loop().create_future()
        async with Hostile(script) as hostile:
            response = await hostile.ask()
            hostile.client.close()
            assert await response.read(9) == b"ok"
            assert await closed

    run(loop, main())


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("HEAD", "/", []),
        ("POST", "x", []),
        ("POST", "/ HTTP/1.1", []),
        ("POST", "/\r\nA: b", []),
        ("POST", "/", [(b"a", b"b\r\nc: d")]),
        ("POST", "/", [(b"a", b"b\nc: d")]),
        ("POST", "/", [(b"a", b"b\0")]),
    ],
)
def test_a_request_cannot_be_split(loop: str, method: str, path: str, headers: list[tuple[bytes, bytes]]) -> None:
    async def main() -> None:
        async with Hostile(repeats(OK)) as hostile:
            with pytest.raises(ConfigError):
                await hostile.client.send(method, path, headers, b"", deadlines=Deadlines())
            assert hostile.connections == 0

    run(loop, main())
