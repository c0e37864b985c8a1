"""Slow clients: they are disconnected at a deadline, and do not slow down others.

A healthy client sends requests all the time. Its times are measured in windows, before the attack and during it, and
the best windows are compared: other load on the machine can only make a window worse.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from tests.soak.client import RawClient, model_request
from tests.soak.gateway_process import GatewayProcess, running, settled
from tests.soak.report import Figure, Report, percentile
from tests.soak.upstream import listening
from tests.support.system_packages import BY_NAME

WINDOW = 3.0  # seconds
Attack = Callable[[GatewayProcess], Coroutine[Any, Any, None]]


async def slow_clients(sockets: int = 1000, *, deadline: float = 10.0, factor: float = 2.0) -> Report:
    """Our own slow clients: each must be disconnected."""
    cut = 0

    async def attack(gateway: GatewayProcess) -> None:
        nonlocal cut
        cut = int(await output(sys.executable, "-m", "tests.soak.slow_sender", gateway.port, sockets, deadline * 10))

    timeouts = {"client_head": deadline, "client_body": deadline}
    figures = await measured_beside(attack, {"timeouts": timeouts}, factor)
    return Report(
        f"Slow clients, {sockets} sockets of our own",
        (Figure("cut by the deadline", cut, most=sockets, least=sockets), *figures),
    )


async def slowhttptest(sockets: int = 1000, *, seconds: int = 25, factor: float = 2.0) -> list[Report]:
    """The same by slowhttptest: slow heads (-H), slow bodies (-B), many ranges (-R).

    It sends no key. Where clients need one it is rejected at once, as the last report shows.
    """
    package = BY_NAME["slowhttptest"]
    if not package.is_installed():
        return [Report("slowhttptest", (), skipped=package.reason)]
    program = package.name
    reports = []
    for mode, path, keys in (
        ("-H", "/v1/models", {"api_keys": "none"}),
        ("-B", "/v1/chat/completions", {"api_keys": "none"}),
        ("-R", "/v1/models", {"api_keys": "none"}),
        ("-B", "/v1/chat/completions", {}),
    ):

        async def attack(gateway: GatewayProcess, mode: str = mode, path: str = path) -> None:
            options = (mode, "-c", sockets, "-r", 200, "-i", 3, "-l", seconds, "-p", 3)
            await output(program, *options, "-u", f"http://127.0.0.1:{gateway.port}{path}")

        figures = await measured_beside(attack, keys, factor)
        reports.append(Report(f"slowhttptest {mode}{'' if keys else ' without a key'}, {sockets} sockets", figures))
    return reports


async def output(*command: object) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *map(str, command), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=dict(os.environ)
    )
    return (await process.communicate())[0]


async def measured_beside(attack: Attack, config: dict[str, Any], factor: float) -> tuple[Figure, ...]:
    """The times of a healthy client before and during the attack, and the descriptors that remain after it."""
    async with listening() as upstream, running({"providers": [upstream.provider()], **config}) as gateway:
        descriptors = gateway.descriptors()
        await healthy_client(gateway, asyncio.create_task(asyncio.sleep(1)))
        quiet = [await healthy_client(gateway, asyncio.create_task(asyncio.sleep(WINDOW))) for _ in range(3)]
        loud: list[list[float]] = []
        held_open = 0
        async with background_task(attack(gateway)) as attacking:
            while not attacking.done() or not loud:
                loud.append(await healthy_client(gateway, asyncio.create_task(asyncio.sleep(WINDOW))))
                held_open = max(held_open, gateway.descriptors() - descriptors)
        upstream.hang_up()
        held = await settled(gateway.descriptors, descriptors, 60)
        before, during = best(quiet), best(loud[:-1] or loud)  # the last one may have been quiet in part
        return (
            Figure("connections of theirs, most", held_open),
            Figure("answers for the healthy client beside them", sum(map(len, loud)), least=1),
            Figure("healthy client alone, p99", before, "ms"),
            Figure("healthy client beside them, p99", during, "ms", most=factor * before),
            Figure("healthy client beside them, p99 of the worst window", worst(loud), "ms"),
            Figure("descriptors above the baseline afterwards", held - descriptors, most=0),
        )


@asynccontextmanager
async def background_task(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(work)
    try:
        yield task
        await task
    finally:
        task.cancel()


def best(windows: list[list[float]]) -> float:
    return min((percentile(times, 0.99) * 1000 for times in windows if times), default=math.inf)


def worst(windows: list[list[float]]) -> float:
    return max((percentile(times, 0.99) * 1000 for times in windows if times), default=math.inf)


async def healthy_client(gateway: GatewayProcess, during: asyncio.Task[None]) -> list[float]:
    """The times of sequential requests, each on its own connection, until the other task ends."""
    times = []
    while not during.done():
        began = time.perf_counter()
        client = await RawClient.open(gateway.port)
        client.send(model_request("m", "x", stream=True))
        answer = await client.answer()
        client.leave()
        if answer.status == 200:
            times.append(time.perf_counter() - began)
        await asyncio.sleep(0.005)
    await during
    return times
