"""Many streams at once, half of them aborted at random in all phases."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field

from tests.soak.client import CHAT, MESSAGES, RESPONSES, Caller, question
from tests.soak.report import Figure, Report, percentile
from tests.soak.subject import Subject, running, settled
from tests.soak.upstream import DONE, STREAM, Asked, event, listening

PIECES = 8
PATHS = (CHAT, CHAT, MESSAGES, RESPONSES)
EARLY = ("in the head", "in the body")
LATE = ("reading", "reading", "reading", "reading", "not reading")
ENDS = {CHAT: b"[DONE]", MESSAGES: b"message_stop", RESPONSES: b"response.completed"}


LONGEST_GATHERING = 60.0  # seconds


class Gate:
    """Opens when so many streams have reached the upstream: then all of them are open at the same time."""

    def __init__(self, streams: int) -> None:
        self._missing = streams
        self._open = asyncio.Event()
        asyncio.get_running_loop().call_later(LONGEST_GATHERING, self._open.set)

    async def arrive(self) -> None:
        self._missing -= 1
        if self._missing == 0:
            self._open.set()
        await self.wait()

    async def wait(self) -> None:
        await self._open.wait()


@dataclass(slots=True)
class Storm:
    """What the clients did and saw."""

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
    """`rounds` storms of `streams` streams that last `seconds` each; the first warms up and is judged as well.

    Those that are to break off within their request come on top.
    """
    dice = random.Random(1)
    storm = Storm(Gate(streams))

    async def play(asked: Asked) -> None:
        storm.now += 1
        storm.most = max(storm.most, storm.now)
        try:
            await storm.gate.arrive()
            await told(asked)
        finally:
            storm.now -= 1

    async def told(asked: Asked) -> None:
        await asyncio.sleep(dice.random() * seconds / 4)
        asked.write(STREAM)
        await asyncio.sleep(dice.random() * seconds / 4)
        for number in range(PIECES):
            asked.chunk(event(f"{asked.text} {number} "))
            await asyncio.sleep(dice.random() * seconds / PIECES)
        asked.chunk(event("", "stop") + DONE)
        asked.write(b"0\r\n\r\n")

    async with listening(play) as upstream:
        provider = upstream.provider(transformer={"use": ["Kimi"]})
        limits = {"in_flight": streams * 2, "connections": streams * 2}
        async with running({"providers": [provider], "limits": limits}) as subject:
            descriptors, tasks = subject.descriptors(), await subject.tasks()
            for number in range(rounds):
                storm.gate = Gate(streams)
                names = [f"nonce-{number}-{each}" for each in range(streams)]
                early = [f"early-{number}-{each}" for each in range(streams // 4)]
                await asyncio.gather(
                    *[client(subject, name, dice, seconds, storm) for name in names],
                    *[aborting(subject, name, dice, seconds, storm, dice.choice(EARLY)) for name in early],
                )
            await asyncio.sleep(1)
            delays = [
                (asked.lost - storm.left_at[asked.text]) * 1000
                for asked in upstream.seen
                if asked.lost is not None and asked.text in storm.left_at
            ]
            blind = sum(not asked.answered and asked.lost is None for asked in upstream.seen)
            upstream.hang_up()
            held = await settled(subject.descriptors, descriptors)
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
                    Figure("tasks above the baseline", await subject.settled_tasks(tasks) - tasks, most=0),
                ),
            )


async def client(subject: Subject, nonce: str, dice: random.Random, seconds: float, storm: Storm) -> None:
    if dice.random() < 0.5:
        await aborting(subject, nonce, dice, seconds, storm, dice.choice(LATE))
        return
    path = dice.choice(PATHS)
    caller = await Caller.open(subject.port)
    caller.send(question("m", nonce, stream=True, path=path))
    answer = await caller.answer()
    storm.whole += 1
    pieces = [f"{nonce} {number} ".encode() in answer.body for number in range(PIECES)]
    storm.bad += not (answer.status == 200 and ENDS[path] in answer.body and all(pieces))
    storm.bad += answer.body.count(b"nonce-") != answer.body.count(f"{nonce} ".encode())
    caller.leave()


async def aborting(subject: Subject, nonce: str, dice: random.Random, seconds: float, storm: Storm, kind: str) -> None:
    """Send some or all of the request, perhaps read, and leave at some moment in some way."""
    data = question("m", nonce, stream=True, path=dice.choice(PATHS))
    caller = await Caller.open(subject.port)
    if kind == "in the head":
        data = data[: dice.randrange(data.index(b"\r\n\r\n"))]
    elif kind == "in the body":
        data = data[: dice.randrange(data.index(b"\r\n\r\n") + 4, len(data))]
    caller.send(data)
    reading = asyncio.create_task(caller.answer()) if kind == "reading" else None
    await storm.gate.wait()
    moment = dice.random() * seconds * 0.8
    await (asyncio.sleep(moment) if reading is None else asyncio.wait({reading}, timeout=moment))
    if reading is not None and reading.done():
        kind = "after the end"
    elif reading is not None:
        kind = "in the stream" if caller.heard else "before the first event"
        reading.cancel()
    storm.phase(kind)
    storm.left_at[nonce] = time.perf_counter()
    way = dice.randrange(3)
    if way == 0:
        caller.reset()
    elif way == 1:
        caller.leave()
    else:
        caller.writer.write_eof()
        await asyncio.sleep(0.5)
        caller.leave()
    if reading is not None:
        await asyncio.gather(reading, return_exceptions=True)
