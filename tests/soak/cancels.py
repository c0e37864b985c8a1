"""Clients that come and go in front of a small pool: every slot of it comes back."""

from __future__ import annotations

import asyncio
import random

from tests.soak.client import Caller, question
from tests.soak.report import Figure, Report
from tests.soak.subject import Subject, running
from tests.soak.upstream import Asked, Upstream, echo, listening

POOL = 10


async def cancels(requests: int = 5000) -> Report:
    dice = random.Random(3)

    async def slow(asked: Asked) -> None:
        await asyncio.sleep(dice.random() * 0.02)
        await echo(asked)

    async with listening(slow) as upstream:
        config = {"providers": [upstream.provider()], "limits": {"connections": POOL}}
        async with running(config) as subject:
            tasks = await subject.tasks()
            left = iter(range(requests))
            await asyncio.gather(*[fickle(subject, left, dice) for _ in range(100)])
            await subject.settled_tasks(tasks)
            together = await at_the_same_time(subject, upstream)
            await subject.settled_tasks(tasks)
            upstream.play = echo
            answers = [await ask(subject) for _ in range(POOL * 3)]
            return Report(
                f"Cancel storm, {requests} requests on a pool of {POOL}",
                (
                    Figure("slots that are there afterwards", together, most=POOL, least=POOL),
                    Figure("answers afterwards", sum(answers), most=POOL * 3, least=POOL * 3),
                    Figure("tasks above the baseline", await subject.settled_tasks(tasks) - tasks, most=0),
                ),
            )


async def fickle(subject: Subject, left: object, dice: random.Random) -> None:
    for _ in left:  # type: ignore[attr-defined]
        caller = await Caller.open(subject.port)
        caller.send(question("m", "x", stream=dice.random() < 0.5))
        await asyncio.sleep(dice.random() * 0.1)
        caller.reset() if dice.random() < 0.5 else caller.leave()


async def at_the_same_time(subject: Subject, upstream: Upstream) -> int:
    """How many of many requests reach an upstream that answers none of them."""
    waiting = asyncio.Event()

    async def wait(asked: Asked) -> None:
        await waiting.wait()

    upstream.play = wait
    upstream.seen.clear()
    callers = [await Caller.open(subject.port) for _ in range(POOL * 3)]
    for caller in callers:
        caller.send(question("m", "x", stream=True))
    for _ in range(100):
        await asyncio.sleep(0.1)
        if len(upstream.seen) >= POOL:
            break
    await asyncio.sleep(0.3)
    reached = len(upstream.seen)
    for caller in callers:
        caller.leave()
    return reached


async def ask(subject: Subject) -> bool:
    caller = await Caller.open(subject.port)
    caller.send(question("m", "x", stream=False))
    answer = await caller.answer()
    caller.leave()
    return answer.status == 200
