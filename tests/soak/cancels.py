"""Clients that disconnect at random, with a small upstream pool: every slot of it must be released."""

from __future__ import annotations

import asyncio
import random

from tests.soak.client import RawClient, model_request
from tests.soak.gateway_process import GatewayProcess, running
from tests.soak.report import Figure, Report
from tests.soak.upstream import Upstream, UpstreamRequest, echo, listening

POOL = 10


async def cancels(requests: int = 5000) -> Report:
    rng = random.Random(3)

    async def slow(request: UpstreamRequest) -> None:
        await asyncio.sleep(rng.random() * 0.02)
        await echo(request)

    async with listening(slow) as upstream:
        config = {"providers": [upstream.provider()], "limits": {"connections": POOL}}
        async with running(config) as gateway:
            tasks = await gateway.tasks()
            left = iter(range(requests))
            await asyncio.gather(*[disconnecting_client(gateway, left, rng) for _ in range(100)])
            await gateway.settled_tasks(tasks)
            together = await at_the_same_time(gateway, upstream)
            await gateway.settled_tasks(tasks)
            upstream.handler = echo
            answers = [await ask(gateway) for _ in range(POOL * 3)]
            return Report(
                f"Cancel storm, {requests} requests on a pool of {POOL}",
                (
                    Figure("slots that are there afterwards", together, most=POOL, least=POOL),
                    Figure("answers afterwards", sum(answers), most=POOL * 3, least=POOL * 3),
                    Figure("tasks above the baseline", await gateway.settled_tasks(tasks) - tasks, most=0),
                ),
            )


async def disconnecting_client(gateway: GatewayProcess, left: object, rng: random.Random) -> None:
    for _ in left:  # type: ignore[attr-defined]
        client = await RawClient.open(gateway.port)
        client.send(model_request("m", "x", stream=rng.random() < 0.5))
        await asyncio.sleep(rng.random() * 0.1)
        client.reset() if rng.random() < 0.5 else client.leave()


async def at_the_same_time(gateway: GatewayProcess, upstream: Upstream) -> int:
    """How many of many requests reach an upstream that answers none of them."""
    waiting = asyncio.Event()

    async def wait(request: UpstreamRequest) -> None:
        await waiting.wait()

    upstream.handler = wait
    upstream.seen.clear()
    clients = [await RawClient.open(gateway.port) for _ in range(POOL * 3)]
    for client in clients:
        client.send(model_request("m", "x", stream=True))
    for _ in range(100):
        await asyncio.sleep(0.1)
        if len(upstream.seen) >= POOL:
            break
    await asyncio.sleep(0.3)
    reached = len(upstream.seen)
    for client in clients:
        client.leave()
    return reached


async def ask(gateway: GatewayProcess) -> bool:
    client = await RawClient.open(gateway.port)
    client.send(model_request("m", "x", stream=False))
    answer = await client.answer()
    client.leave()
    return answer.status == 200
