"""Clients that never read, and an upstream that never stops sending."""

from __future__ import annotations

import asyncio
import time

from tests.soak.client import CHAT, MESSAGES, RESPONSES, RawClient, model_request
from tests.soak.gateway_process import running, settled
from tests.soak.report import Figure, Report
from tests.soak.upstream import STREAM, UpstreamRequest, event, listening


async def backpressure(clients: int = 100, *, seconds: float = 20.0, most: float = 200) -> Report:
    piece = event("x" * 1000) * 8

    async def endless(request: UpstreamRequest) -> None:
        request.write(STREAM)
        while True:
            request.chunk(piece)
            await request.connection.room()
            await asyncio.sleep(0)

    async with listening(endless) as upstream:
        provider = upstream.provider(transformer={"use": ["Kimi"]})
        config = {"providers": [provider], "timeouts": {"client_unread": seconds + 5}}
        async with running(config) as gateway:
            before = gateway.memory()
            descriptors = gateway.descriptors()
            connections = [await RawClient.open(gateway.port) for _ in range(clients)]
            for number, client in enumerate(connections):
                client.writer.transport.pause_reading()  # type: ignore[attr-defined]
                client.send(model_request("m", "x", stream=True, path=(CHAT, MESSAGES, RESPONSES)[number % 3]))
            while len(upstream.seen) < clients:
                await asyncio.sleep(0.05)
            end = time.monotonic() + seconds
            found = [0.0]
            while time.monotonic() < end:
                await asyncio.sleep(seconds / 40)
                found.append(gateway.memory() - before)
            late = max(found[len(found) * 3 // 4 :]) - max(found[: len(found) * 3 // 4])
            held = await settled(gateway.descriptors, descriptors, 60)  # after `client_unread` the gateway closes them
            for client in connections:
                client.reset()
            return Report(
                f"Back-pressure, {clients} clients that never read",
                (
                    Figure("memory above the baseline, most", max(found), "MiB", most=most),
                    Figure("growth in the last quarter", max(0.0, late), "MiB"),
                    Figure("streams that were begun", len(upstream.seen), most=clients, least=clients),
                    Figure("descriptors that are kept after `client_unread`", held - descriptors, most=0),
                ),
            )
