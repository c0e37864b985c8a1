"""Nonces that are echoed over few connections, some asked for in vain, some by an upstream that says too much."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter

from tests.soak.client import CHAT, MESSAGES, RESPONSES, Answer, Caller, question
from tests.soak.report import Figure, Report
from tests.soak.subject import Subject, running
from tests.soak.upstream import Asked, Play, document, listening, stream

NONCE = re.compile(rb"nonce-\w+")
CANCELLED = 0.3
CALLERS = 64


def scripted(dice: random.Random, *, hostile: bool = False, late: bool = False) -> Play:
    """Echo, sometimes in two parts; if `hostile`, sometimes with more than was asked for behind it, or `late` so."""

    async def play(asked: Asked) -> None:
        data = stream(asked.text) if asked.streamed else document(asked.text)
        if dice.random() < 0.3:
            cut = dice.randrange(1, len(data))
            asked.write(data[:cut])
            await asyncio.sleep(dice.random() * 0.003)
            data = data[cut:]
        if hostile and dice.random() < 0.3:
            more = dice.choice((document("nonce-stray"), stream("nonce-stray"), data))
            data += more[: dice.choice((1, 20, len(more)))]
        asked.write(data)
        if late and dice.random() < 0.3:
            await asyncio.sleep(dice.random() * 0.005)
            if not asked.connection.transport.is_closing():
                asked.write(document("nonce-stray"))
        if dice.random() < 0.02:
            asked.connection.transport.close()  # without having said so

    return play


async def crosstalk(requests: int = 100_000) -> Report:
    dice = random.Random(2)
    plays = (scripted(dice), scripted(dice, hostile=True), scripted(dice, late=True))
    async with listening(plays[0]) as good, listening(plays[1]) as bad, listening(plays[2]) as late:
        providers = [good.provider("good"), bad.provider("bad"), late.provider("late")]
        config = {"providers": providers, "limits": {"connections": 32}, "timeouts": {"connect": 60}}
        async with running(config) as subject:
            seen: Counter[str] = Counter()
            left = iter(range(requests))
            await asyncio.gather(
                *[caller(subject, left, dice, seen, good.seen, bad.seen, late.seen) for _ in range(CALLERS)]
            )
    return Report(
        f"Cross-talk, {requests} nonces",
        (
            Figure("cancelled", seen["cancelled"], least=requests // 5),
            Figure("answers, upstream well-behaved", seen["good own"], least=requests // 4),
            Figure("foreign answers, upstream well-behaved", seen["good foreign"], most=0),
            Figure("errors, upstream well-behaved", seen["good error"], most=0),
            Figure("answers, upstream hostile", seen["bad own"], least=requests // 10),
            Figure("foreign bytes, upstream hostile", seen["bad foreign"], most=0),
            Figure("errors, upstream hostile", seen["bad error"]),
            Figure("answers, upstream hostile up to 5 ms later", seen["late own"]),
            Figure("foreign bytes, upstream hostile up to 5 ms later", seen["late foreign"], most=CALLERS),
        ),
    )


async def caller(
    subject: Subject, left: object, dice: random.Random, seen: Counter[str], *memories: list[Asked]
) -> None:
    """One client connection after the other, each used until a request on it is cancelled."""
    line: Caller | None = None
    for number in left:  # type: ignore[attr-defined]
        nonce = f"nonce-{number}x{dice.randrange(1 << 60):x}"
        provider = dice.choice(("good", "good", "bad", "late"))
        path = dice.choice((CHAT, CHAT, MESSAGES, RESPONSES))
        if line is None:
            line = await Caller.open(subject.port)
        line.send(question(f"{provider},m", nonce, stream=dice.random() < 0.5, path=path))
        if dice.random() < CANCELLED:
            await asyncio.sleep(dice.random() * 0.02)
            line.reset() if dice.random() < 0.5 else line.leave()
            line = None
            seen["cancelled"] += 1
        else:
            seen[f"{provider} {verdict(await line.answer(), nonce)}"] += 1
        for memory in memories:
            memory.clear()  # a hundred thousand requests need not be remembered
    if line is not None:
        line.leave()


def verdict(answer: Answer, nonce: str) -> str:
    found = set(NONCE.findall(answer.body))
    if found - {nonce.encode()}:
        return "foreign"
    return "own" if answer.status == 200 and found else "error"
