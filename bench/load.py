"""The load: the same requests for every contender, written raw, read just far enough to count.

`python -m bench.load PORT` reads one job as JSON from standard input, runs it in a process of its own and prints one
JSON line with the figures, so that the driver's CPU time never counts for a contender.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any, cast

import uvloop


@dataclass
class Job:
    """`requests` in all, `concurrency` at once; `rate` > 0: that many a second instead, one after the other."""

    path: str
    body: str
    headers: dict[str, str]
    requests: int = 1
    concurrency: int = 1
    rate: float = 0.0
    seconds: float = 0.0  # > 0: keep the streams open this long, then leave
    stream: bool = False
    mark: str = '"delta":{'  # what is counted as a chunk
    counted: list[str] = field(default_factory=list)  # texts of the body that each request has with a number of its own


@dataclass
class Tally:
    done: int = 0
    chunks: int = 0
    errors: int = 0
    first_error: str = ""
    times: list[float] = field(default_factory=list)
    first_bytes: list[float] = field(default_factory=list)


class Requests:
    """The bytes of one request after the other: the same, but for the texts that are counted.

    A text to be counted ends in eight digits, and the number of the request takes their place.
    """

    def __init__(self, job: Job, port: int) -> None:
        data, gap = written(job, port), b"\0" * 8
        for text in map(str.encode, job.counted):
            data = data.replace(text, text[:-8] + gap)
        self.pieces = data.split(gap)
        self.number = int(time.time() * 1000) % 10**8  # two runs do not send the same numbers

    def next(self) -> bytes:
        self.number += 1
        return (b"%08d" % (self.number % 10**8)).join(self.pieces)


class Asker(asyncio.Protocol):
    """One connection: asks, counts, and tells when the answer is whole."""

    def __init__(self, job: Job, requests: Requests, tally: Tally) -> None:
        self.job, self.requests, self.tally = job, requests, tally
        self.asked_at = 0.0  # 0: the first byte of the answer has come
        self.mark = job.mark.encode()
        self.done: asyncio.Future[bool] | None = None
        self.tail = b""
        self.length = -1
        self.ok = True
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def ask(self) -> asyncio.Future[bool]:
        assert self.transport is not None
        self.done = asyncio.get_running_loop().create_future()
        self.tail, self.length, self.ok = b"", -1, True
        request = self.requests.next()
        self.asked_at = time.perf_counter()
        self.transport.write(request)
        return self.done

    def data_received(self, data: bytes) -> None:
        if self.asked_at:
            self.tally.first_bytes.append(time.perf_counter() - self.asked_at)
            self.asked_at = 0.0
        if self.length < 0:
            data = self.tail + data
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self.tail = data
                return
            self.read_head(data[:end])
            data, self.tail = data[end + 4 :], b""
        if self.length:
            self.length -= len(data)
            if self.length == 0:
                self.end()
            return
        self.tally.chunks += data.count(self.mark)
        tail = self.tail + data
        self.tail = tail[-7:]
        if tail.endswith(b"0\r\n\r\n"):
            self.end()

    def read_head(self, head: bytes) -> None:
        if not head.startswith(b"HTTP/1.1 200"):
            self.ok = False
            self.tally.first_error = self.tally.first_error or head[:300].decode("latin-1")
        at = head.lower().find(b"content-length:")
        self.length = int(head[at + 15 :].split(b"\r\n")[0]) if at >= 0 else 0

    def end(self) -> None:
        self.length = -1
        if self.done and not self.done.done():
            self.done.set_result(self.ok)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        if self.done and not self.done.done():
            self.done.set_result(False)


def written(job: Job, port: int) -> bytes:
    body = job.body.encode()
    head = {"host": f"127.0.0.1:{port}", "content-type": "application/json", **job.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"POST {job.path} HTTP/1.1\r\n{lines}content-length: {len(body)}\r\n\r\n".encode() + body


async def connect(port: int, job: Job, requests: Requests, tally: Tally) -> Asker:
    _, asker = await asyncio.get_running_loop().create_connection(
        lambda: Asker(job, requests, tally), "127.0.0.1", port
    )
    return asker


async def keep_asking(port: int, job: Job, requests: Requests, tally: Tally, left: list[int]) -> None:
    asker = await connect(port, job, requests, tally)
    while left[0] > 0:
        left[0] -= 1
        if asker.transport is None:
            asker = await connect(port, job, requests, tally)
        began = time.perf_counter()
        if await asker.ask():
            tally.done += 1
        else:
            tally.errors += 1
        tally.times.append(time.perf_counter() - began)
        if job.rate:
            await asyncio.sleep(max(0.0, 1 / job.rate - (time.perf_counter() - began)))
    if asker.transport:
        asker.transport.close()


async def hold(port: int, job: Job, requests: Requests, tally: Tally) -> None:
    askers = []
    for at in range(0, job.concurrency, 50):
        batch = range(at, min(at + 50, job.concurrency))
        askers += await asyncio.gather(*(connect(port, job, requests, tally) for _ in batch))
        for asker in askers[at:]:
            asker.ask()
    await asyncio.sleep(job.seconds)
    tally.done = sum(asker.transport is not None and asker.ok for asker in askers)
    tally.errors = len(askers) - tally.done


async def run(port: int, job: Job) -> dict[str, Any]:
    tally, requests = Tally(), Requests(job, port)
    began = time.perf_counter()
    if job.seconds:
        await hold(port, job, requests, tally)
    else:
        left = [job.requests]
        await asyncio.gather(*(keep_asking(port, job, requests, tally, left) for _ in range(job.concurrency)))
    times, first = sorted(tally.times) or [0.0], sorted(tally.first_bytes) or [0.0]
    return {
        "done": tally.done,
        "chunks": tally.chunks,
        "errors": tally.errors,
        "first_error": tally.first_error,
        "seconds": time.perf_counter() - began,
        "first_p50": first[len(first) // 2],
        "p50": times[len(times) // 2],
        "p99": times[min(len(times) - 1, int(len(times) * 0.99))],
    }


if __name__ == "__main__":
    print(json.dumps(uvloop.run(run(int(sys.argv[1]), Job(**json.load(sys.stdin))))), flush=True)
