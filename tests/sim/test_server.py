from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.sim import SimServer, main, start


def post(model: str, *, stream: bool = False, close: bool = True) -> bytes:
    body = json.dumps({"model": model, "stream": stream, "messages": [{"role": "user", "content": "hi"}]}).encode()
    end = "close" if close else "keep-alive"
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: {end}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def with_server(talk: Callable[[SimServer], Awaitable[None]]) -> None:
    async def run() -> None:
        server = await start()
        try:
            await asyncio.wait_for(talk(server), 20)
        finally:
            await server.stop()

    asyncio.run(run())


async def exchanged(server: SimServer, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


def test_one_connection_serves_several_requests() -> None:
    async def talk(server: SimServer) -> None:
        answer = await exchanged(server, post("kimi-k2-sim", close=False) + post("kimi-k2-sim"))
        assert answer.count(b"HTTP/1.1 200 OK") == 2
        assert len(server.seen) == 2
        assert server.url == f"http://127.0.0.1:{server.port}/v1"

    with_server(talk)


def test_a_stream_is_chunked_and_ends() -> None:
    async def talk(server: SimServer) -> None:
        answer = await exchanged(server, post("kimi-k2-sim", stream=True))
        assert b"transfer-encoding: chunked" in answer
        assert answer.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")

    with_server(talk)


@pytest.mark.parametrize(
    ("row", "end"), [("broken", b"}]}\n\n\r\n"), ("broken-chunk", b"no number\r\n"), ("slow", b"0\r\n\r\n")]
)
def test_ends_of_streams(row: str, end: bytes) -> None:
    async def talk(server: SimServer) -> None:
        assert (await exchanged(server, post(f"kimi-k2-sim-{row}", stream=True))).endswith(end)

    with_server(talk)


@pytest.mark.parametrize("row", ["stalled", "slow-long"])
def test_a_client_that_leaves_is_noticed(row: str) -> None:
    async def talk(server: SimServer) -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(post(f"kimi-k2-sim-{row}", stream=True))
        await reader.readuntil(b"data: ")
        assert server.tasks
        writer.close()
        while server.tasks:
            await asyncio.sleep(0.01)

    with_server(talk)


def test_chunked_requests_are_read() -> None:
    async def talk(server: SimServer) -> None:
        body = post("kimi-k2-sim").partition(b"\r\n\r\n")[2]
        head = b"POST /v1/chat/completions?x=1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        data = head + b"%x;a=b\r\n%b\r\n" % (len(body), body) + b"0\r\n\r\n"
        assert b"200 OK" in await exchanged(server, data)

    with_server(talk)


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
        b"GET / HT" * 20000,
    ],
)
def test_what_is_no_http_is_closed_without_an_answer(data: bytes) -> None:
    async def talk(server: SimServer) -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(data)
        writer.write_eof()
        answer: Any = b""
        with contextlib.suppress(ConnectionResetError):
            answer = await reader.read()
        assert answer == b""
        writer.close()

    with_server(talk)


def test_rows_that_cannot_be_played_are_refused_at_start() -> None:
    with pytest.raises(ConfigError, match="did you mean 'strict'"):
        asyncio.run(start(play="strickt"))


def test_an_address_in_use_is_told_as_such() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match="cannot listen"):
        main(port=taken.getsockname()[1])


def test_stopping_ends_open_connections() -> None:
    async def talk(server: SimServer) -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(post("kimi-k2-sim-stalled", stream=True))
        await reader.readuntil(b"data: ")
        await server.stop()
        await reader.read()
        writer.close()

    with_server(talk)
