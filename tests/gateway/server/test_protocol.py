"""Our server's protocol with small applications, raw sockets and short deadlines."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import pytest
import uvicorn
import uvloop
from tests.gateway.probes import GET, POST, PROBES
from uvicorn.server import ServerState

from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.protocol import ClientProtocol
from moongate.gateway.server.request_cycle import HIGH_WATER, MAX_JOINED, RequestResponseCycle
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.server.run import DirectService

App = Callable[[Any, Any, Any], Coroutine[Any, Any, None]]
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
SHORT = 0.2
DATE = (b"date", b"Thu, 01 Jan 1970 00:00:00 GMT")

pytestmark = pytest.mark.parametrize("loop", list(LOOPS))


def run(loop: str, main: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await main

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(bounded())


class Client:
    """A raw connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> tuple[int, dict[bytes, bytes], bytes]:
        """Status, headers and body of the next answer."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        lines = head[:-4].split(b"\r\n")
        headers = dict(line.split(b": ", 1) for line in lines[1:])
        return int(lines[0].split(b" ")[1]), headers, await self._body(headers)

    async def _body(self, headers: dict[bytes, bytes]) -> bytes:
        if b"transfer-encoding" not in headers:
            return await self.reader.readexactly(int(headers.get(b"content-length", b"0")))
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return body

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        with contextlib.suppress(ConnectionError):
            return await self.reader.read()
        return b""


class Place:
    """A running server."""

    def __init__(self, port: int, state: ServerState) -> None:
        self.port = port
        self.state = state
        self._writers: list[asyncio.StreamWriter] = []

    async def connect(self, *, limit: int = 1 << 16, receive_buffer: int = 0) -> Client:
        sock = socket.socket()
        sock.setblocking(False)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", self.port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=limit)
        self._writers.append(writer)
        return Client(reader, writer)

    async def ask(self, data: bytes) -> Client:
        client = await self.connect()
        client.send(data)
        return client

    def leave(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@contextlib.asynccontextmanager
async def serving(app: App, limits: ConnectionLimits | None = None) -> AsyncIterator[Place]:
    config = uvicorn.Config(
        app, ws="none", interface="asgi3", lifespan="off", log_config=None, access_log=False, proxy_headers=False
    )
    config.load()
    state = ServerState()
    state.default_headers = [DATE]
    running = asyncio.get_running_loop()

    def make() -> Any:
        handle = app.handle if isinstance(app, DirectService) else None
        return ClientProtocol(config, state, {"a": 1}, running, limits=limits or ConnectionLimits(), handle=handle)

    server = await running.create_server(make, "127.0.0.1", 0)
    place = Place(server.sockets[0].getsockname()[1], state)
    try:
        yield place
        place.leave()
        while state.connections or state.tasks:
            await asyncio.sleep(0.005)
    finally:
        place.leave()
        server.close()


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what was asked, with plain ASGI."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message["body"]
        more = message["more_body"]
    text = scope["method"].encode() + b" " + scope["raw_path"] + b" " + body
    headers = [(b"content-length", b"%d" % len(text)), (b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text})


async def stream(scope: Any, receive: Any, send: Any) -> None:
    """Two chunks through the extension."""
    out = scope["extensions"]["moongate.stream"]
    out.start(200, [(b"content-type", b"text/event-stream")])
    out.write(b"one")
    await asyncio.sleep(0)
    out.write(b"")
    out.write(b"two")
    out.finish()


def test_several_requests_on_one_connection(loop: str) -> None:
    async def main() -> None:
        async with serving(echo) as place:
            client = await place.connect()
            for number in range(3):
                client.send(POST + b"Content-Length: 1\r\n\r\n%d" % number)
                status, headers, body = await client.answer()
                assert (status, body) == (200, b"POST /x %d" % number)
                assert list(headers) == [b"date", b"content-length", b"content-type"]
            assert place.state.total_requests == 3

    run(loop, main())


def test_the_scope(loop: str) -> None:
    seen: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append({key: value for key, value in scope.items() if key != "extensions"})
        await echo(scope, receive, send)

    async def main() -> None:
        async with serving(app) as place:
            client = await place.ask(b"GET /a%20b%2Fc?d=%20e HTTP/1.1\r\nHOST: a\r\nX-Y: Z\r\n\r\n")
            await client.answer()
            assert seen[0].pop("client") == client.writer.get_extra_info("sockname")
            assert seen[0].pop("server") == ("127.0.0.1", place.port)

    run(loop, main())
    assert seen[0] == {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "http",
        "method": "GET",
        "root_path": "",
        "path": "/a b/c",
        "raw_path": b"/a%20b%2Fc",
        "query_string": b"d=%20e",
        "headers": [(b"host", b"a"), (b"x-y", b"Z")],
        "state": {"a": 1},
    }


def test_an_asgi_application_runs_in_an_asyncio_task(loop: str) -> None:
    seen: list[object] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(asyncio.current_task())
        await echo(scope, receive, send)

    async def main() -> None:
        async with serving(app) as place:
            await (await place.ask(GET + b"\r\n")).answer()

    run(loop, main())
    assert isinstance(seen[0], asyncio.Task)


class Entered:
    """An application with a direct handler."""

    def __init__(self, answer: Callable[[RequestResponseCycle], Coroutine[Any, Any, None]]) -> None:
        self._answer = answer
        self.received: list[tuple[str, bytes | None, int | None]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError

    def handle(
        self, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> Coroutine[Any, Any, None]:
        self.received.append((head.path, body, length))
        return self._answer(writer)


def test_a_direct_handler_gets_the_request_without_asgi(loop: str) -> None:
    async def answer(writer: RequestResponseCycle) -> None:
        if not writer.complete:
            await writer.receive()
        writer.respond(200, [(b"x-y", b"z")], b"hello")

    app = Entered(answer)

    async def main() -> None:
        async with serving(app) as place:
            client = await place.ask(GET + b"\r\n")
            assert (await client.answer())[2] == b"hello"
            client.send(b"POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
            await client.answer()
            client.send(b"POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
            await asyncio.sleep(0.05)
            client.send(b"abc")
            await client.answer()

    run(loop, main())
    assert app.received == [("/x", b"", None), ("/b", b"abc", None), ("/c", None, 3)]


def test_system_exit_ends_the_program(loop: str) -> None:
    async def answer(writer: RequestResponseCycle) -> None:
        raise SystemExit(3)

    async def main() -> None:
        async with serving(Entered(answer)) as place:
            await (await place.ask(GET + b"\r\n")).answer()

    with pytest.raises(SystemExit):
        run(loop, main())


@pytest.mark.parametrize("size", [0, 1, 1000, HIGH_WATER + 1, 3 * 1024 * 1024])
@pytest.mark.parametrize("chunked", [True, False])
def test_bodies_of_all_sizes(loop: str, size: int, chunked: bool) -> None:
    body = b"x" * size
    framed = b"Content-Length: %d\r\n\r\n" % size + body
    if chunked:
        pieces = [body[at : at + 7000] for at in range(0, size, 7000)]
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
        framed = b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"

    async def main() -> None:
        async with serving(echo) as place:
            client = await place.ask(POST + framed + GET[:0])
            assert (await client.answer())[2] == b"POST /x " + body
            client.send(GET + b"\r\n")
            assert (await client.answer())[2] == b"GET /x "

    run(loop, main())


def test_a_streamed_answer(loop: str) -> None:
    async def main() -> None:
        async with serving(stream) as place:
            client = await place.ask(GET + b"\r\n")
            status, headers, body = await client.answer()
            assert (status, body, headers[b"transfer-encoding"]) == (200, b"onetwo", b"chunked")
            client.send(GET + b"\r\n")
            assert (await client.answer())[2] == b"onetwo"

    run(loop, main())


@pytest.mark.parametrize("size", [MAX_JOINED, MAX_JOINED + 1, 4 * 1024 * 1024])
def test_a_streamed_answer_of_large_and_small_pieces(loop: str, size: int) -> None:
    pieces = [b"a" * size, b"b", b"c" * size, b"d" * size]

    async def large(scope: Any, receive: Any, send: Any) -> None:
        out = scope["extensions"]["moongate.stream"]
        out.start(200, [], pieces[0])
        for piece in pieces[1:]:
            out.write(piece)
        out.finish()

    async def main() -> None:
        async with serving(large) as place:
            client = await place.ask(GET + b"\r\n")
            assert (await client.answer())[2] == b"".join(pieces)

    run(loop, main())


def test_http_1_0_gets_no_chunks(loop: str) -> None:
    async def main() -> None:
        async with serving(stream) as place:
            client = await place.ask(b"GET /x HTTP/1.0\r\n\r\n")
            head, _, body = (await client.rest()).partition(b"\r\n\r\n")
            assert b"chunked" not in head
            assert b"connection: close" in head
            assert body == b"onetwo"

    run(loop, main())


@pytest.mark.parametrize("app", [echo, stream])
def test_head_has_no_body(loop: str, app: App) -> None:
    async def main() -> None:
        async with serving(app) as place:
            client = await place.ask(b"HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            answer = await client.rest()
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.endswith(b"\r\n\r\n")

    run(loop, main())


def test_no_content(loop: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body"})

    async def main() -> None:
        async with serving(app) as place:
            client = await place.ask(GET + b"\r\n")
            status, headers, _ = await client.answer()
            assert (status, list(headers)) == (204, [b"date"])
            client.send(GET + b"\r\n")
            assert (await client.answer())[0] == 204

    run(loop, main())


def test_connection_close(loop: str) -> None:
    async def main() -> None:
        async with serving(echo) as place:
            client = await place.ask(GET + b"Connection: close\r\n\r\n")
            answer = await client.rest()
            assert b"\r\nconnection: close\r\n" in answer
            assert answer.endswith(b"GET /x ")

    run(loop, main())


def test_100_continue(loop: str) -> None:
    async def main() -> None:
        async with serving(echo) as place:
            client = await place.ask(POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.send(b"ok")
            assert (await client.answer())[2] == b"POST /x ok"

    run(loop, main())


def test_an_early_answer_closes_after_the_client_could_read_it(loop: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"no"})

    async def main() -> None:
        async with serving(app) as place:
            client = await place.ask(POST + b"Content-Length: 9000000\r\n\r\n")
            status, headers, body = await client.answer()
            assert (status, body, headers[b"connection"]) == (401, b"no", b"close")
            client.send(b"x" * 1_000_000)
            assert await client.rest() == b""

    run(loop, main())


@pytest.mark.parametrize("name", PROBES)
def test_a_smuggling_probe_is_refused_and_the_connection_closed(loop: str, name: str) -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["path"])
        await echo(scope, receive, send)

    async def main() -> None:
        async with serving(app) as place:
            client = await place.ask(PROBES[name])
            answer = await client.rest()
            assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
            assert answer.count(b"HTTP/1.1") == 1
            assert b"connection: close\r\n" in answer
            assert b'"type":"invalid_request_error"' in answer

    run(loop, main())
    assert "/smuggled" not in seen


def test_a_pipelined_request_is_not_answered(loop: str) -> None:
    async def main() -> None:
        async with serving(echo) as place:
            client = await place.ask(GET + b"\r\n" + GET.replace(b"/x", b"/y") + b"\r\n")
            answer = await client.rest()
            assert answer.count(b"HTTP/1.1 200") == 1
            assert answer.endswith(b"GET /x ")

    run(loop, main())


def test_bytes_during_an_answer_do_not_disturb_it(loop: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.1)
        await echo(scope, receive, send)

    async def main() -> None:
        async with serving(app) as place:
            client = await place.ask(GET + b"\r\n")
            await asyncio.sleep(0.02)
            client.send(b"\0 garbage")
            assert (await client.rest()).endswith(b"GET /x ")

    run(loop, main())


def test_too_many_bytes_during_an_answer_close_the_connection(loop: str) -> None:
    async def main() -> None:
        gone = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            scope["extensions"]["moongate.stream"].on_disconnect(gone.set)
            await gone.wait()

        async with serving(app, ConnectionLimits(max_head=10_000)) as place:
            client = await place.ask(GET + b"\r\n")
            await asyncio.sleep(0.02)
            while not gone.is_set():
                with contextlib.suppress(RuntimeError):  # uvloop's word for a closed transport
                    client.send(b"x" * 1000)
                await asyncio.sleep(0.005)

    run(loop, main())


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (GET + b"a: " + b"x" * 5000, 431),
        (GET + b"a: b\r\n" * 20, 431),
        (POST + b"Content-Length: 5000\r\n\r\n" + b"x" * 5000, 413),
    ],
)
def test_what_is_too_large_is_refused(loop: str, data: bytes, status: int) -> None:
    async def main() -> None:
        async with serving(echo, ConnectionLimits(max_head=4000, max_headers=10, max_body=4000)) as place:
            client = await place.ask(data)
            assert (await client.rest()).startswith(b"HTTP/1.1 %d " % status)

    run(loop, main())


@pytest.mark.parametrize("trickle", [GET + b"a: b\r\n", POST + b"Content-Length: 1000\r\n\r\nx"])
def test_a_slow_request_is_cut(loop: str, trickle: bytes) -> None:
    async def main() -> None:
        async with serving(echo, ConnectionLimits(head=SHORT, body=SHORT)) as place:

            async def trickling() -> bytes:
                client = await place.ask(trickle)
                task = asyncio.create_task(client.rest())
                while not task.done():
                    with contextlib.suppress(RuntimeError):  # uvloop's word for a closed transport
                        client.send(b"x")
                    await asyncio.sleep(0.02)
                return await task

            assert (await unless_late(trickling)).startswith(b"HTTP/1.1 408 ")

    run(loop, main())


async def unless_late(attempt: Callable[[], Awaitable[bytes]]) -> bytes:
    """A busy machine may let a short deadline pass before the first byte is here. Then again."""
    answer = b""
    while not answer:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            answer = await attempt()
    return answer


def test_a_second_slow_head_is_cut_too(loop: str) -> None:
    async def main() -> None:
        async with serving(echo, ConnectionLimits(head=SHORT, idle=30)) as place:

            async def second() -> bytes:
                client = await place.ask(GET + b"\r\n")
                await client.answer()
                await asyncio.sleep(SHORT * 1.5)
                client.send(b"GET")
                return await client.rest()

            assert (await unless_late(second)).startswith(b"HTTP/1.1 408 ")

    run(loop, main())


@pytest.mark.parametrize("limits", [ConnectionLimits(head=SHORT), ConnectionLimits(idle=SHORT)])
def test_an_idle_connection_is_closed_without_a_response(loop: str, limits: ConnectionLimits) -> None:
    async def main() -> None:
        async with serving(echo, limits) as place:
            client = await place.connect()
            if limits.idle == SHORT:
                client.send(GET + b"\r\n")
                await client.answer()
            client.send(b"\r\n")  # an empty line is not the beginning of a request
            assert await client.rest() == b""

    run(loop, main())


@pytest.mark.parametrize("finished", [True, False])
def test_a_client_that_does_not_read_is_cut(loop: str, finished: bool) -> None:
    async def main() -> None:
        marks: list[str] = []
        gone = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            out = scope["extensions"]["moongate.stream"]
            out.on_drain(lambda: marks.append("paused"), lambda: marks.append("drained"))
            out.on_disconnect(gone.set)
            out.start(200, [])
            while not out.paused:
                out.write(b"x" * 1_000_000)
                await asyncio.sleep(0)
            assert marks == ["paused"]
            if finished:
                out.finish()
            else:
                await gone.wait()

        async with serving(app, ConnectionLimits(unread=SHORT)) as place:
            client = await place.connect(limit=1 << 10)
            client.send(GET + b"\r\n")
            while not place.state.connections:
                await asyncio.sleep(0.01)
            while place.state.connections:
                await asyncio.sleep(0.01)
            assert marks == ["paused"]

    run(loop, main())


def test_a_client_that_reads_slowly_gets_everything(loop: str) -> None:
    size = 8_000_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        out = scope["extensions"]["moongate.stream"]
        out.respond(200, [], b"x" * size)

    async def main() -> None:
        async with serving(app, ConnectionLimits(unread=0.5)) as place:
            client = await place.connect(limit=1 << 10, receive_buffer=4096)
            client.send(GET + b"\r\n")
            end = asyncio.get_running_loop().time() + 2
            got = 0
            while asyncio.get_running_loop().time() < end:
                got += len(await client.reader.read(2048))
                await asyncio.sleep(0.02)
            assert got < size / 2
            while got < size and (more := await client.reader.read(1 << 20)):
                got += len(more)
            assert got >= size

    run(loop, main())


def test_back_pressure_and_drain(loop: str) -> None:
    size = 8_000_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        out = scope["extensions"]["moongate.stream"]
        drained = asyncio.Event()
        out.on_drain(drained.clear, drained.set)
        drained.set()
        out.start(200, [(b"content-length", b"%d" % size)])
        for _ in range(size // 100_000):
            await drained.wait()
            out.write(b"x" * 100_000)
        out.finish()

    async def main() -> None:
        async with serving(app) as place:
            client = await place.ask(GET + b"\r\n")
            await asyncio.sleep(0.1)
            assert (await client.answer())[2] == b"x" * size

    run(loop, main())


def test_plain_asgi_waits_for_a_slow_reader(loop: str) -> None:
    size = 8_000_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        for _ in range(size // 100_000):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
            written.append(100_000)
        await send({"type": "http.response.body"})

    written: list[int] = []

    async def main() -> None:
        async with serving(app) as place:
            client = await place.connect(limit=1 << 10)
            client.send(GET + b"\r\n")
            await asyncio.sleep(0.1)
            assert sum(written) < size
            assert len((await client.answer())[2]) == size

    run(loop, main())


@pytest.mark.parametrize("phase", ["body", "work", "stream"])
@pytest.mark.parametrize("rudely", [True, False])
def test_a_client_that_leaves_is_noticed(loop: str, phase: str, rudely: bool) -> None:
    async def main() -> None:
        called: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        working = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            out = scope["extensions"]["moongate.stream"]
            out.on_disconnect(lambda: called.set_result("callback"))
            working.set()
            if phase == "body":
                while (await receive())["type"] != "http.disconnect":
                    pass
            elif phase == "work":
                assert (await receive())["type"] == "http.request"
                assert (await receive())["type"] == "http.disconnect"
            else:
                out.start(200, [])
                while not called.done():
                    out.write(b"x")
                    await asyncio.sleep(0.01)
            out.write(b"nobody hears this") if out.started else out.start(200, [])
            out.finish()
            await send({"type": "http.response.start", "status": 200})

        async with serving(app) as place:
            client = await place.ask(POST + b"Content-Length: 3\r\n\r\n" + (b"a" if phase == "body" else b"abc"))
            await working.wait()
            client.writer.transport.abort() if rudely else client.writer.close()
            assert await called == "callback"

    run(loop, main())


def test_a_callback_set_too_late_is_still_called(loop: str) -> None:
    async def main() -> None:
        called = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            scope["extensions"]["moongate.stream"].on_disconnect(called.set)

        async with serving(app) as place:
            client = await place.ask(GET + b"\r\n")
            await asyncio.sleep(0.05)
            client.writer.close()
            await called.wait()

    run(loop, main())


async def fails(scope: Any, receive: Any, send: Any) -> None:
    raise ZeroDivisionError("a secret")


async def returns(scope: Any, receive: Any, send: Any) -> None:
    pass


async def splits(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b\r\nc: d")]})


async def writes_first(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.body", "body": b"x"})


async def fails_late(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body", "body": b"half", "more_body": True})
    raise ZeroDivisionError


async def returns_late(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200})


async def starts_twice(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.start", "status": 200})


async def too_short(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"half"})


async def too_long(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
    await send({"type": "http.response.body", "body": b"half"})


@pytest.mark.parametrize("app", [fails, returns, writes_first])
def test_an_application_that_fails_before_its_answer(loop: str, app: App, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with serving(app) as place:
            answer = await (await place.ask(GET + b"\r\n")).rest()
            assert answer.startswith(b"HTTP/1.1 500 ")
            assert b"secret" not in answer

    run(loop, main())
    assert "the application" in caplog.text


@pytest.mark.parametrize("app", [splits, fails_late, returns_late, starts_twice, too_short, too_long])
def test_an_application_that_fails_in_its_answer(loop: str, app: App, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with serving(app) as place:
            answer = await (await place.ask(GET + b"\r\n")).rest()
            assert not answer.endswith(b"0\r\n\r\n")
            assert b"half" not in answer or b"content-length: 3" not in answer
            assert b"c: d" not in answer

    run(loop, main())
    assert "the application" in caplog.text


def test_shutdown_closes_idle_connections_now_and_busy_ones_after_their_answer(loop: str) -> None:
    async def main() -> None:
        go = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["path"] == "/busy":
                await go.wait()
            await echo(scope, receive, send)

        async with serving(app) as place:
            idle = await place.ask(GET + b"\r\n")
            await idle.answer()
            busy = await place.ask(GET.replace(b"/x", b"/busy") + b"\r\n")
            while not place.state.tasks:
                await asyncio.sleep(0.005)
            for connection in list(place.state.connections):
                connection.shutdown()
            assert await idle.rest() == b""
            go.set()
            assert (await busy.answer())[1][b"connection"] == b"close"
            assert await busy.rest() == b""

    run(loop, main())


def test_abort_cuts_the_answer(loop: str) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        out = scope["extensions"]["moongate.stream"]
        out.start(200, [])
        out.write(b"half")
        await asyncio.sleep(0.05)
        out.abort()
        out.abort()
        out.finish()
        assert (await receive())["type"] == "http.disconnect"

    async def main() -> None:
        async with serving(app) as place:
            answer = await (await place.ask(GET + b"\r\n")).rest()
            assert answer.endswith(b"\r\n\r\n4\r\nhalf\r\n")

    run(loop, main())
