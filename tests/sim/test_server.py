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


def with_server(client: Callable[[SimServer], Awaitable[None]]) -> None:
    async def run() -> None:
        server = await start()
        try:
            await asyncio.wait_for(client(server), 20)
        finally:
            await server.stop()

    asyncio.run(run())


async def roundtrip(server: SimServer, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


def test_one_connection_serves_several_requests() -> None:
    async def client(server: SimServer) -> None:
        answer = await roundtrip(server, post("kimi-k2-sim", close=False) + post("kimi-k2-sim"))
        assert answer.count(b"HTTP/1.1 200 OK") == 2
        assert len(server.seen) == 2
        assert server.url == f"http://127.0.0.1:{server.port}/v1"

    with_server(client)


def test_a_stream_is_chunked_and_ends() -> None:
    async def client(server: SimServer) -> None:
        answer = await roundtrip(server, post("kimi-k2-sim", stream=True))
        assert b"transfer-encoding: chunked" in answer
        assert answer.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")

    with_server(client)


@pytest.mark.parametrize(
    ("row", "end"), [("broken", b"}]}\n\n\r\n"), ("broken-chunk", b"no number\r\n"), ("slow", b"0\r\n\r\n")]
)
def test_ends_of_streams(row: str, end: bytes) -> None:
    async def client(server: SimServer) -> None:
        assert (await roundtrip(server, post(f"kimi-k2-sim-{row}", stream=True))).endswith(end)

    with_server(client)


@pytest.mark.parametrize("row", ["stalled", "slow-long"])
def test_a_disconnect_is_noticed(row: str) -> None:
    async def client(server: SimServer) -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(post(f"kimi-k2-sim-{row}", stream=True))
        await reader.readuntil(b"data: ")
        assert server.tasks
        writer.close()
        while server.tasks:
            await asyncio.sleep(0.01)

    with_server(client)


def test_chunked_requests_are_read() -> None:
    async def client(server: SimServer) -> None:
        body = post("kimi-k2-sim").partition(b"\r\n\r\n")[2]
        head = b"POST /v1/chat/completions?x=1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        data = head + b"%x;a=b\r\n%b\r\n" % (len(body), body) + b"0\r\n\r\n"
        assert b"200 OK" in await roundtrip(server, data)

    with_server(client)


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
def test_a_malformed_request_closes_the_connection_without_a_response(data: bytes) -> None:
    async def client(server: SimServer) -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(data)
        writer.write_eof()
        answer: Any = b""
        with contextlib.suppress(ConnectionResetError):
            answer = await reader.read()
        assert answer == b""
        writer.close()

    with_server(client)


def test_an_unknown_row_is_a_configuration_error_at_start() -> None:
    with pytest.raises(ConfigError, match="did you mean 'strict'"):
        asyncio.run(start(play="strickt"))


def test_an_address_in_use_is_a_configuration_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match="cannot listen"):
        main(port=taken.getsockname()[1])


def test_stopping_ends_open_connections() -> None:
    async def client(server: SimServer) -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(post("kimi-k2-sim-stalled", stream=True))
        await reader.readuntil(b"data: ")
        await server.stop()
        await reader.read()
        writer.close()

    with_server(client)


def test_the_ledger_says_what_was_delivered() -> None:
    async def client(server: SimServer) -> None:
        await roundtrip(server, post("kimi-k2-sim", stream=True))
        await roundtrip(server, post("kimi-k2-sim-broken", stream=True))
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(post("kimi-k2-sim-slow-long", stream=True))
        await reader.readuntil(b"data: ")
        writer.close()
        while server.tasks:
            await asyncio.sleep(0.01)
        assert [entry.delivered for entry in server.billed] == [True, False, False]
        answer = await roundtrip(server, b"GET /sim/ledger?after=2 HTTP/1.1\r\nConnection: close\r\n\r\n")
        entries = json.loads(answer.partition(b"\r\n\r\n")[2])["entries"]
        assert [(entry["number"], entry["delivered"]) for entry in entries] == [(3, False)]

    with_server(client)


def test_silence_is_waited_for() -> None:
    async def client(server: SimServer) -> None:
        tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
        messages = [{"role": "user", "content": "hi"}]
        body = json.dumps(
            {"model": "kimi-k2-sim-silent-arguments", "stream": True, "messages": messages, "tools": tools}
        )
        head = f"POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        began = asyncio.get_running_loop().time()
        assert (await roundtrip(server, (head + body).encode())).endswith(b"0\r\n\r\n")
        assert asyncio.get_running_loop().time() - began >= 1.0

    with_server(client)
