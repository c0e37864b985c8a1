"""Clients that dribble: cut by a deadline, and not to the cost of the others."""

from __future__ import annotations

import asyncio
import math
import random
import shutil
import time
from collections.abc import Awaitable, Callable

from tests.soak.client import KEY, Caller, question
from tests.soak.report import Figure, Report, percentile
from tests.soak.subject import Subject, running, settled
from tests.soak.upstream import listening

HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n".encode()
BODY = HEAD + b"content-length: 1000\r\n\r\n"
Attack = Callable[[Subject], Awaitable[None]]


async def slow_clients(sockets: int = 1000, *, deadline: float = 2.0) -> Report:
    """Our own slow clients, with a short deadline: each must be cut.

    They run in the same program as the healthy one, so what it feels of them says little.
    """
    cut = 0

    async def dribble(subject: Subject, dice: random.Random) -> None:
        nonlocal cut
        caller = await Caller.open(subject.port)
        caller.send(dice.choice((HEAD, BODY)))
        gone = asyncio.create_task(caller.reader.read())
        for _ in range(int(deadline * 20)):
            if (await asyncio.wait({gone}, timeout=0.5))[0]:
                break
            caller.send(b"x")
        cut += gone.done()
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        caller.reset()

    async def attack(subject: Subject) -> None:
        dice = random.Random(4)
        await asyncio.gather(*[dribble(subject, dice) for _ in range(sockets)])

    timeouts = {"client_head": deadline, "client_body": deadline}
    figures = await beside(attack, {"timeouts": timeouts})
    return Report(
        f"Slow clients, {sockets} sockets of our own",
        (Figure("cut by the deadline", cut, most=sockets, least=sockets), *figures),
    )


async def slowhttptest(sockets: int = 1000, *, seconds: int = 25, factor: float = 2.0) -> list[Report]:
    """The same by slowhttptest: slow heads (-H), slow bodies (-B), many ranges (-R)."""
    program = shutil.which("slowhttptest")
    if program is None:
        return [Report("slowhttptest", (), skipped="it is not installed (Debian: apt-get install slowhttptest)")]
    reports = []
    for mode, path in (("-H", "/v1/models"), ("-B", "/v1/chat/completions"), ("-R", "/v1/models")):

        async def attack(subject: Subject, mode: str = mode, path: str = path) -> None:
            url = f"http://127.0.0.1:{subject.port}{path}"
            process = await asyncio.create_subprocess_exec(
                *(program, mode, "-c", str(sockets), "-r", "200", "-i", "3", "-l", str(seconds), "-p", "3", "-u", url),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            await process.wait()

        figures = await beside(attack, {}, factor)
        reports.append(Report(f"slowhttptest {mode}, {sockets} sockets", tuple(figures)))
    return reports


async def beside(attack: Attack, config: dict[str, object], factor: float = math.inf) -> list[Figure]:
    """A healthy client's times without and with the attack, and what is left after it."""
    async with listening() as upstream, running({"providers": [upstream.provider()], **config}) as subject:
        descriptors = subject.descriptors()
        await healthy(subject, asyncio.create_task(asyncio.sleep(1)))
        quiet = await healthy(subject, asyncio.create_task(asyncio.sleep(4)))
        loud = await healthy(subject, asyncio.create_task(_run(attack, subject)))
        upstream.hang_up()
        held = await settled(subject.descriptors, descriptors, 60)
        before, during = percentile(quiet, 0.99) * 1000, percentile(loud, 0.99) * 1000
        return [
            Figure("answers for the healthy client beside them", len(loud), least=1),
            Figure("healthy client alone, p99", before, "ms"),
            Figure("healthy client beside them, p99", during, "ms", most=factor * before),
            Figure("descriptors above the baseline afterwards", held - descriptors, most=0),
        ]


async def _run(attack: Attack, subject: Subject) -> None:
    await attack(subject)


async def healthy(subject: Subject, during: asyncio.Task[None]) -> list[float]:
    """Times of one request after the other, each on its own connection, until the other task ends."""
    times = []
    while not during.done():
        began = time.perf_counter()
        caller = await Caller.open(subject.port)
        caller.send(question("m", "x", stream=True))
        answer = await caller.answer()
        caller.leave()
        if answer.status == 200:
            times.append(time.perf_counter() - began)
        await asyncio.sleep(0.005)
    await during
    return times
