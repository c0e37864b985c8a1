"""Nonces echoed over few upstream connections; some requests are cancelled, some upstreams send too much."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter

from tests.soak.client import CHAT, MESSAGES, RESPONSES, RawClient, SoakResponse, model_request
from tests.soak.gateway_process import GatewayProcess, running
from tests.soak.report import Figure, Report
from tests.soak.upstream import Handler, UpstreamRequest, document, listening, stream

NONCE = re.compile(rb"nonce-\w+")
CANCELLED = 0.3
CALLERS = 64


def scripted(rng: random.Random, *, hostile: bool = False, late: bool = False) -> Handler:
    """Echo, sometimes in two parts; sometimes with surplus bytes behind it (`hostile`), or some time later (`late`)."""

    async def handler(request: UpstreamRequest) -> None:
        data = stream(request.text) if request.streamed else document(request.text)
        if rng.random() < 0.3:
            cut = rng.randrange(1, len(data))
            request.write(data[:cut])
            await asyncio.sleep(rng.random() * 0.003)
            data = data[cut:]
        if hostile and rng.random() < 0.3:
            more = rng.choice((document("nonce-stray"), stream("nonce-stray"), data))
            data += more[: rng.choice((1, 20, len(more)))]
        request.write(data)
        if late and rng.random() < 0.3:
            await asyncio.sleep(rng.random() * 0.005)
            if not request.connection.transport.is_closing():
                request.write(document("nonce-stray"))
        if rng.random() < 0.02:
            request.connection.transport.close()  # without "connection: close"

    return handler


async def crosstalk(requests: int = 100_000) -> Report:
    rng = random.Random(2)
    plays = (scripted(rng), scripted(rng, hostile=True), scripted(rng, late=True))
    async with listening(plays[0]) as good, listening(plays[1]) as bad, listening(plays[2]) as late:
        providers = [good.provider("good"), bad.provider("bad"), late.provider("late")]
        config = {"providers": providers, "limits": {"connections": 32}, "timeouts": {"connect": 60}}
        async with running(config) as gateway:
            seen: Counter[str] = Counter()
            left = iter(range(requests))
            await asyncio.gather(
                *[caller(gateway, left, rng, seen, good.seen, bad.seen, late.seen) for _ in range(CALLERS)]
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
    gateway: GatewayProcess, left: object, rng: random.Random, seen: Counter[str], *memories: list[UpstreamRequest]
) -> None:
    """One client connection after the other, each used until a request on it is cancelled."""
    line: RawClient | None = None
    for number in left:  # type: ignore[attr-defined]
        nonce = f"nonce-{number}x{rng.randrange(1 << 60):x}"
        provider = rng.choice(("good", "good", "bad", "late"))
        path = rng.choice((CHAT, CHAT, MESSAGES, RESPONSES))
        if line is None:
            line = await RawClient.open(gateway.port)
        line.send(model_request(f"{provider},m", nonce, stream=rng.random() < 0.5, path=path))
        if rng.random() < CANCELLED:
            await asyncio.sleep(rng.random() * 0.02)
            line.reset() if rng.random() < 0.5 else line.leave()
            line = None
            seen["cancelled"] += 1
        else:
            seen[f"{provider} {verdict(await line.answer(), nonce)}"] += 1
        for memory in memories:
            memory.clear()  # a hundred thousand requests would take too much memory
    if line is not None:
        line.leave()


def verdict(answer: SoakResponse, nonce: str) -> str:
    found = set(NONCE.findall(answer.body))
    if found - {nonce.encode()}:
        return "foreign"
    return "own" if answer.status == 200 and found else "error"
