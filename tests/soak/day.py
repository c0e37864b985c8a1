"""A day of a team's agents, in compressed time: turns of all sizes on three fronts, and memory stays flat.

Answers are text, native calls or marker calls. Some clients leave, some providers fail, some requests are small, and
agents have different tools, which moongate remembers up to a limit. Usage goes into SQLite, as it does by default.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from statistics import median

from bench.turns import FRONTS, NEWEST, REVISION, body
from tests.soak.client import RawClient, model_request, raw_request
from tests.soak.gateway_process import GatewayProcess, running
from tests.soak.report import Figure, Report
from tests.soak.upstream import UpstreamRequest, listening, stream

HOURS = 24
CALLERS = 8
SIZES = (100, 150, 200, 326, 400)  # KB of a turn
MODELS = ("text-100-0", "call-100-0", "marked-100-0")  # of bench.upstream
SMALL, FAULTY, LEAVES, OTHER_TOOLS = 0.2, 0.05, 0.05, 0.2  # shares of the requests
TOOL_SETS = 30  # of the agents that have other tools than most
EARLY, LATE = slice(8, 12), slice(HOURS - 4, HOURS)  # hours whose memory is compared: all tools are known by then


async def day(turns: int = 12_000, most_mib: float = 16.0) -> Report:
    rng = random.Random(4)
    options = {"transformer": {"use": [["Kimi", {"preset": "agent", "schemaRules": "always"}]]}}
    async with playing() as port, listening(fails) as faulty:
        team = {"name": "team", "api_base_url": f"http://127.0.0.1:{port}/v1", "api_key": "k", "models": list(MODELS)}
        config = {"providers": [{**team, **options}, faulty.provider("faulty")], "retries": {"attempts": 1}}
        async with running(config) as gateway:
            tasks = await gateway.tasks()
            turn_bodies, seen, memory = bodies(), Counter[str](), list[float]()
            for _ in range(HOURS):
                left = iter(range(turns // HOURS))
                await asyncio.gather(*[caller(gateway, left, rng, turn_bodies, seen) for _ in range(CALLERS)])
                faulty.seen.clear()
                memory.append(gateway.memory())
            more_tasks = await gateway.settled_tasks(tasks) - tasks
    return Report(
        f"A day of agents, {turns} requests in {HOURS} hours",
        (
            Figure("whole turns", seen["whole"], least=turns // 2),
            Figure("small requests", seen["small"], least=turns // 10),
            Figure("clients that left", seen["left"], least=turns // 40),
            Figure("errors of a provider that fails", seen["failed"], least=turns // 40),
            Figure("other answers", seen["wrong"], most=0),
            Figure("tasks above the baseline", more_tasks, most=0),
            Figure("memory after the first hour", memory[0], "MiB"),
            Figure("memory after the last hour", memory[-1], "MiB"),
            Figure("memory that the day has added", median(memory[LATE]) - median(memory[EARLY]), "MiB", most=most_mib),
        ),
    )


@contextlib.asynccontextmanager
async def playing() -> AsyncIterator[int]:
    """The port of the provider of the bench, in a process of its own."""
    command = (sys.executable, "-m", "bench.upstream")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield int(await process.stdout.readline())
    finally:
        process.kill()
        await process.wait()


async def fails(request: UpstreamRequest) -> None:
    """An error at once, or in the midst of the answer."""
    if request.body.get("seed"):
        request.write(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n")
    else:
        request.write(stream("a")[:-40])
        request.connection.transport.close()


def bodies() -> list[tuple[str, bytes]]:
    """Turns of every front, size and kind of answer, by path."""
    return [
        (path, body(front, size, f"team/{model}").encode())
        for front, path in FRONTS.items()
        for size in SIZES
        for model in MODELS
    ]


async def caller(
    gateway: GatewayProcess,
    left: Iterator[int],
    rng: random.Random,
    turn_bodies: list[tuple[str, bytes]],
    seen: Counter[str],
) -> None:
    """One agent: one connection, kept until it leaves or an answer breaks off."""
    line: RawClient | None = None
    for _ in left:
        if line is None:
            line = await RawClient.open(gateway.port)
        lot = rng.random()
        if lot < FAULTY:
            line.send(model_request("faulty,m", "x", stream=True, seed=rng.randrange(2)))
            answer = await line.answer()
            seen["failed" if answer.status >= 500 or b'"error"' in answer.body else "wrong"] += 1
        elif lot < FAULTY + SMALL:
            line.send(model_request(f"team,{MODELS[0]}", "x", stream=True))
            seen["small" if sound((await line.answer()).body) else "wrong"] += 1
            continue
        else:
            path, turn = rng.choice(turn_bodies)
            line.send(raw_request(path, numbered(turn, rng)))
            if rng.random() >= LEAVES:
                seen["whole" if sound((await line.answer()).body) else "wrong"] += 1
                continue
            await asyncio.sleep(rng.random() * 0.02)
            seen["left"] += 1
        line.reset()
        line = None
    if line is not None:
        line.leave()


def numbered(turn: bytes, rng: random.Random) -> bytes:
    """No two turns are the same, and some have other tools."""
    tools = rng.randrange(TOOL_SETS) if rng.random() < OTHER_TOOLS else 0
    for text, number in ((NEWEST, rng.randrange(10**8)), (REVISION, tools)):
        turn = turn.replace(text.encode(), text[:-8].encode() + b"%08d" % number)
    return turn


def sound(answer: bytes) -> bool:
    """A stream that ended well, on any front."""
    return any(end in answer for end in (b"data: [DONE]", b"event: message_stop", b"event: response.completed"))
