"""Responses and requests that try to exhaust the memory, many at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable

from tests.soak.client import KEY, RawClient, model_request, raw_request
from tests.soak.gateway_process import GatewayProcess, running, settled
from tests.soak.report import Figure, Report

SERVER = """
import asyncio
from tests.support.faulty_upstream import FaultyUpstream
async def main():
    upstream = await FaultyUpstream(max_bytes=1 << 30, max_seconds=300).start()
    print(upstream.port, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
CLOSED = -1
EVENT, BODY = 8, 32  # MiB: the gateway's own limits
Bomb = Callable[[GatewayProcess], Awaitable[bool]]


async def bombs(at_once: int = 20, *, size: int = 100, back: float = 20) -> Report:
    """`size` MiB each. Each may take twice its limit: once as received, once assembled."""
    models = [f"gzip_bomb~mb={size}", f"sse_big_line~mb={size}", "json_deep", "endless_headers"]
    answers = [(model, streamed) for model in models for streamed in (True, False) if streamed or "line" not in model]
    kinds: list[tuple[str, float, Bomb]] = [
        *((f"{model}{', streamed' if s else ''}", EVENT, answer(model, s)) for model, s in answers),
        ("request: endless header", 1, endless_head),
        ("request: deep JSON", 1, deep_body),
        (f"request: line of {size} MB", BODY, long_body(size)),
    ]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.getcwd()}
    )
    assert process.stdout is not None
    try:
        port = int(await process.stdout.readline())
        provider = {"name": "faults", "api_base_url": f"http://127.0.0.1:{port}/v1", "models": models}
        once = {"retries": 0, "attempts": 1}
        async with running({"providers": [provider], "retries": once}) as gateway:
            return await measured(gateway, kinds, at_once, back)
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()


async def measured(gateway: GatewayProcess, kinds: list[tuple[str, float, Bomb]], at_once: int, back: float) -> Report:
    before = gateway.memory()
    figures = []
    for name, each, attack in kinds:
        await settled(lambda: gateway.memory() - before, back)
        gateway.forget_peak()
        survived = sum(await asyncio.gather(*[attack(gateway) for _ in range(at_once)]))
        figures.append(Figure(f"{name}: refused", survived, most=at_once, least=at_once))
        figures.append(Figure(f"{name}: peak", gateway.peak() - before, "MiB", most=2 * at_once * each + 50))
    after = await settled(lambda: gateway.memory() - before, back)
    figures.append(Figure("memory above the baseline afterwards", after, "MiB", most=back))
    return Report(f"Bombs, {at_once} at once", tuple(figures))


def answer(model: str, streamed: bool) -> Bomb:
    async def attack(gateway: GatewayProcess) -> bool:
        """Whether the client gets an error, as a status or at the end of the stream."""
        client = await RawClient.open(gateway.port)
        client.send(model_request(f"faults,{model}", "x", stream=streamed))
        found = await client.answer()
        client.leave()
        return b'"error"' in found.body and b"[DONE]" not in found.body

    return attack


async def endless_head(gateway: GatewayProcess) -> bool:
    head = f"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n".encode()
    return await refused(gateway, head, b"x-more: " + b"y" * 1000 + b"\r\n", 20_000) in (431, CLOSED)


async def deep_body(gateway: GatewayProcess) -> bool:
    client = await RawClient.open(gateway.port)
    body = b'{"model":"m","messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    client.send(raw_request("/v1/chat/completions", body))
    found = await client.answer()
    client.leave()
    return found.status == 400


def long_body(size: int) -> Bomb:
    async def attack(gateway: GatewayProcess) -> bool:
        head = raw_request("/v1/chat/completions", b"").replace(b"content-length: 0", b"transfer-encoding: chunked")
        status = await refused(gateway, head, b"10000\r\n" + b"y" * 65_536 + b"\r\n", size * 16)
        return status in (408, 413, 503, CLOSED)  # too slow for a busy machine, too large, too much at once

    return attack


async def refused(gateway: GatewayProcess, head: bytes, piece: bytes, times: int) -> int:
    """The status of the response that comes while we are still sending, or CLOSED if the connection is closed first."""
    client = await RawClient.open(gateway.port)
    client.send(head)
    answering = asyncio.create_task(client.answer())
    try:
        for _ in range(times):
            if answering.done():
                break
            client.send(piece)
            await client.writer.drain()
            await asyncio.sleep(0)
    except ConnectionError:
        pass
    try:
        return (await answering).status
    except (ConnectionError, asyncio.IncompleteReadError):
        return CLOSED
    finally:
        client.reset()
