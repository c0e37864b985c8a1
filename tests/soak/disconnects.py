"""Many streams at once, half of them aborted at a random time in every phase."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field

from tests.soak.client import CHAT, MESSAGES, RESPONSES, RawClient, model_request
from tests.soak.gateway_process import GatewayProcess, running, settled
from tests.soak.report import Figure, Report, percentile
from tests.soak.upstream import DONE, STREAM, UpstreamRequest, event, listening

PIECES = 8
PATHS = (CHAT, CHAT, MESSAGES, RESPONSES)
EARLY = ("in the head", "in the body")
LATE = ("reading", "reading", "reading", "reading", "not reading")
ENDS = {CHAT: b"[DONE]", MESSAGES: b"message_stop", RESPONSES: b"response.completed"}


MAX_GATHERING = 60.0  # seconds


class Gate:
    """Opens when this many streams have reached the upstream, so that all of them are open at the same time."""

    def __init__(self, streams: int) -> None:
        self._missing = streams
        self._open = asyncio.Event()
        asyncio.get_running_loop().call_later(MAX_GATHERING, self._open.set)

    async def arrive(self) -> None:
        self._missing -= 1
        if self._missing == 0:
            self._open.set()
        await self.wait()

    async def wait(self) -> None:
        await self._open.wait()


@dataclass(slots=True)
class Storm:
    """Counters of what the clients did and received."""

    gate: Gate
    now: int = 0  # streams that are open
    most: int = 0
    left_at: dict[str, float] = field(default_factory=dict)  # by nonce
    phases: dict[str, int] = field(default_factory=dict)
    whole: int = 0
    bad: int = 0

    def phase(self, name: str) -> None:
        self.phases[name] = self.phases.get(name, 0) + 1


async def disconnects(streams: int = 1000, *, seconds: float = 16.0, most_ms: float = 250, rounds: int = 2) -> Report:
    """`rounds` storms of `streams` streams that last `seconds` each; the first is a warm-up that must pass as well.

    Clients that abort within their request are additional.
    """
    rng = random.Random(1)
    storm = Storm(Gate(streams))

    async def handler(request: UpstreamRequest) -> None:
        storm.now += 1
        storm.most = max(storm.most, storm.now)
        try:
            await storm.gate.arrive()
            await respond(request)
        finally:
            storm.now -= 1

    async def respond(request: UpstreamRequest) -> None:
        await asyncio.sleep(rng.random() * seconds / 4)
        request.write(STREAM)
        await asyncio.sleep(rng.random() * seconds / 4)
        for number in range(PIECES):
            request.chunk(event(f"{request.text} {number} "))
            await asyncio.sleep(rng.random() * seconds / PIECES)
        request.chunk(event("", "stop") + DONE)
        request.write(b"0\r\n\r\n")

    async with listening(handler) as upstream:
        provider = upstream.provider(transformer={"use": ["Kimi"]})
        limits = {"in_flight": streams * 2, "connections": streams * 2}
        async with running({"providers": [provider], "limits": limits}) as gateway:
            descriptors, tasks = gateway.descriptors(), await gateway.tasks()
            for number in range(rounds):
                storm.gate = Gate(streams)
                names = [f"nonce-{number}-{each}" for each in range(streams)]
                early = [f"early-{number}-{each}" for each in range(streams // 4)]
                await asyncio.gather(
                    *[reading_client(gateway, name, rng, seconds, storm) for name in names],
                    *[aborting(gateway, name, rng, seconds, storm, rng.choice(EARLY)) for name in early],
                )
            await asyncio.sleep(1)
            delays = [
                (request.lost - storm.left_at[request.text]) * 1000
                for request in upstream.seen
                if request.lost is not None and request.text in storm.left_at
            ]
            blind = sum(not request.answered and request.lost is None for request in upstream.seen)
            upstream.hang_up()
            held = await settled(gateway.descriptors, descriptors)
            return Report(
                f"Disconnect storm, {rounds} × {streams} streams",
                (
                    Figure("streams at the same time, most", storm.most, most=streams, least=streams),
                    Figure("streams that ended whole", storm.whole, least=1),
                    Figure("whole streams that were not their own or not whole", storm.bad, most=0),
                    *(Figure(f"aborted {name}", count) for name, count in sorted(storm.phases.items())),
                    Figure("aborts that the upstream saw", len(delays), least=streams * rounds // 50),
                    Figure("aborts that it did not see", blind, most=0),
                    Figure("until it saw one, median", percentile(delays, 0.5), "ms"),
                    Figure("until it saw one, p99", percentile(delays, 0.99), "ms", most=most_ms),
                    Figure("descriptors above the baseline", held - descriptors, most=0),
                    Figure("tasks above the baseline", await gateway.settled_tasks(tasks) - tasks, most=0),
                ),
            )


async def reading_client(gateway: GatewayProcess, nonce: str, rng: random.Random, seconds: float, storm: Storm) -> None:
    if rng.random() < 0.5:
        await aborting(gateway, nonce, rng, seconds, storm, rng.choice(LATE))
        return
    path = rng.choice(PATHS)
    client = await RawClient.open(gateway.port)
    client.send(model_request("m", nonce, stream=True, path=path))
    answer = await client.answer()
    storm.whole += 1
    pieces = [f"{nonce} {number} ".encode() in answer.body for number in range(PIECES)]
    storm.bad += not (answer.status == 200 and ENDS[path] in answer.body and all(pieces))
    storm.bad += answer.body.count(b"nonce-") != answer.body.count(f"{nonce} ".encode())
    client.leave()


async def aborting(
    gateway: GatewayProcess, nonce: str, rng: random.Random, seconds: float, storm: Storm, kind: str
) -> None:
    """Send a part of the request or all of it, maybe read, and disconnect at a random time in a random way."""
    data = model_request("m", nonce, stream=True, path=rng.choice(PATHS))
    client = await RawClient.open(gateway.port)
    if kind == "in the head":
        data = data[: rng.randrange(data.index(b"\r\n\r\n"))]
    elif kind == "in the body":
        data = data[: rng.randrange(data.index(b"\r\n\r\n") + 4, len(data))]
    client.send(data)
    reading = asyncio.create_task(client.answer()) if kind == "reading" else None
    await storm.gate.wait()
    moment = rng.random() * seconds * 0.8
    await (asyncio.sleep(moment) if reading is None else asyncio.wait({reading}, timeout=moment))
    if reading is not None and reading.done():
        kind = "after the end"
    elif reading is not None:
        kind = "in the stream" if client.received else "before the first event"
        reading.cancel()
    storm.phase(kind)
    storm.left_at[nonce] = time.perf_counter()
    way = rng.randrange(3)
    if way == 0:
        client.reset()
    elif way == 1:
        client.leave()
    else:
        client.writer.write_eof()  # the client may still wait for its answer: it has not left yet
        await asyncio.sleep(0.5)
        storm.left_at[nonce] = time.perf_counter()
        client.leave()
    if reading is not None:
        await asyncio.gather(reading, return_exceptions=True)
