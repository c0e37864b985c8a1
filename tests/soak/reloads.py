"""Reloads under load: no connection is refused and no answer is incomplete."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter

from tests.soak.client import RawClient, model_request
from tests.soak.gateway_process import GatewayProcess, running
from tests.soak.report import Figure, Report
from tests.soak.upstream import UpstreamRequest, echo, listening


async def reloads(times: int = 20, *, callers: int = 20, workers: int = 2) -> Report:
    async def slow_echo(request: UpstreamRequest) -> None:
        await asyncio.sleep(0.01)
        await echo(request)

    async with listening(slow_echo) as upstream:
        configs = [
            {"providers": [upstream.provider(name)], "aliases": {"x": f"{name},m"}, "workers": workers}
            for name in ("one", "two")
        ]
        async with running(configs[0]) as gateway:
            seen: Counter[str] = Counter()
            over = asyncio.Event()
            load = asyncio.gather(*[caller(gateway, over, seen) for _ in range(callers)])
            for number in range(times):
                await asyncio.sleep(0.2)
                gateway.configure(configs[1 - number % 2])
                gateway.signal(signal.SIGHUP)
                await wait_for_reloads(gateway, (number + 1) * workers)
            await asyncio.sleep(0.2)
            over.set()
            await load
            done = gateway.errors.count("was reloaded")
    return Report(
        f"Reload loop under load, {times} reloads, {workers} workers",
        (
            Figure("reloads, over all workers", done, most=times * workers, least=times * workers),
            Figure("requests, each on its own connection", seen["request"], least=times),
            Figure("refused connections", seen["refused"], most=0),
            Figure("answers that were cut", seen["cut"], most=0),
            Figure("answers other than 200", seen["other"], most=0),
        ),
    )


async def wait_for_reloads(gateway: GatewayProcess, reloads: int) -> None:
    for _ in range(600):
        if gateway.errors.count("was reloaded") >= reloads:
            return
        await asyncio.sleep(0.05)


async def caller(gateway: GatewayProcess, over: asyncio.Event, seen: Counter[str]) -> None:
    while not over.is_set():
        seen["request"] += 1
        try:
            line = await RawClient.open(gateway.port)
        except OSError:
            seen["refused"] += 1
            continue
        try:
            line.send(model_request("x", "x", stream=seen["request"] % 2 == 0))
            seen["other"] += (await line.answer()).status != 200
        except (ConnectionError, asyncio.IncompleteReadError):
            seen["cut"] += 1
        finally:
            line.leave()
