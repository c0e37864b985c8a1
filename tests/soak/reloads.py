"""Reloads under load: nobody is refused, nobody notices."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter

from tests.soak.client import Caller, question
from tests.soak.report import Figure, Report
from tests.soak.subject import Subject, running
from tests.soak.upstream import Asked, echo, listening


async def reloads(times: int = 20, *, callers: int = 20, workers: int = 2) -> Report:
    async def dawdle(asked: Asked) -> None:
        await asyncio.sleep(0.01)
        await echo(asked)

    async with listening(dawdle) as upstream:
        configs = [
            {"providers": [upstream.provider(name)], "aliases": {"x": f"{name},m"}, "workers": workers}
            for name in ("one", "two")
        ]
        async with running(configs[0]) as subject:
            seen: Counter[str] = Counter()
            over = asyncio.Event()
            load = asyncio.gather(*[caller(subject, over, seen) for _ in range(callers)])
            for number in range(times):
                await asyncio.sleep(0.2)
                subject.configure(configs[1 - number % 2])
                subject.signal(signal.SIGHUP)
                await told(subject, (number + 1) * workers)
            await asyncio.sleep(0.2)
            over.set()
            await load
            done = subject.said.count("was reloaded")
    return Report(
        f"Reload loop under load, {times} reloads, {workers} workers",
        (
            Figure("reloads, over all workers", done, most=times * workers, least=times * workers),
            Figure("requests, each on its own connection", seen["asked"], least=times),
            Figure("refused connections", seen["refused"], most=0),
            Figure("answers that were cut", seen["cut"], most=0),
            Figure("answers other than 200", seen["other"], most=0),
        ),
    )


async def told(subject: Subject, reloads: int) -> None:
    for _ in range(600):
        if subject.said.count("was reloaded") >= reloads:
            return
        await asyncio.sleep(0.05)


async def caller(subject: Subject, over: asyncio.Event, seen: Counter[str]) -> None:
    while not over.is_set():
        seen["asked"] += 1
        try:
            line = await Caller.open(subject.port)
        except OSError:
            seen["refused"] += 1
            continue
        try:
            line.send(question("x", "x", stream=seen["asked"] % 2 == 0))
            seen["other"] += (await line.answer()).status != 200
        except (ConnectionError, asyncio.IncompleteReadError):
            seen["cut"] += 1
        finally:
            line.leave()
