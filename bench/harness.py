"""One run: the fake provider, the contenders that are up, and the samples that were taken."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Self

from bench.contender import Contender
from bench.contenders import build
from bench.load import Job
from bench.process import Running
from bench.rows import FIRST_BYTES, LEAST_TEXTS, REQUEST, ROWS, Row, job, many_messages
from bench.samples import Samples

DRIVE = [sys.executable, "-m", "bench.load"]
MOST_SECONDS = 300  # for one job


def drive(port: int, work: Job) -> dict[str, Any]:
    """Run one job in a process of its own."""
    command, job = [*DRIVE, str(port)], json.dumps(asdict(work))
    done = subprocess.run(command, input=job, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    if done.returncode:
        return {"errors": work.requests, "first_error": done.stderr[-300:], "done": 0}
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


class Bench:
    """Starts and stops everything; measures one row for one contender at a time."""

    def __init__(
        self,
        contenders: Iterable[Contender],
        *,
        quick: bool = False,
        rows: Iterable[str] = tuple(ROWS),
        minutes: float = 60.0,
    ) -> None:
        self.quick = quick
        self.rows = [row for group in rows for row in ROWS[group] if row.quick or not quick]
        self.first_bytes = [row for row in FIRST_BYTES if "turn" in rows and (row.quick or not quick)]
        self.provider = subprocess.Popen([sys.executable, "-m", "bench.upstream"], stdout=subprocess.PIPE, text=True)
        assert self.provider.stdout is not None
        self.provider_port = int(self.provider.stdout.readline())
        self.running: dict[Contender, Running] = {}
        self.samples = Samples()
        self._first = 0
        self.until = time.monotonic() + minutes * 60
        self.skipped: dict[str, str] = {}
        for contender in contenders:
            self.start(contender)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for running in self.running.values():
            running.stop()
        self.provider.kill()
        self.provider.communicate()

    def start(self, contender: Contender) -> None:
        if why := contender.missing():
            self.skipped[contender.name] = why
            return
        running = contender.start(self.provider_port)
        try:
            running.wait()
            first = drive(running.port, job(contender, self.provider_port, REQUEST, requests=1, concurrency=1))
            if not first["done"]:
                raise RuntimeError(f"first request failed: {first['first_error']!r}")
        except RuntimeError as error:
            running.stop()
            self.skipped[contender.name] = str(error)
            return
        self.running[contender] = running
        self.samples.add(contender.name, "start-up, ms", (time.perf_counter() - running.began) * 1000)
        self.samples.add(contender.name, "memory idle, MiB", running.memory())

    def order(self) -> list[Contender]:
        """All that run; each time another one is the first, so that no place in the order is anybody's."""
        self._first += 1
        found = list(self.running)
        at = self._first % max(1, len(found))
        return found[at:] + found[:at]

    def round(self, number: int = 0) -> None:
        """Every row once, all contenders after one another within the row. What time is over for is left out."""
        for row in self.rows:
            if number >= row.rounds:
                continue
            if time.monotonic() > self.until:
                self.skipped[f"{row.name}, round {number + 1}"] = "the time is over"
                continue
            for contender in self.order():
                if row.asks(contender):
                    self.measure(contender, row)
        for row in self.first_bytes:
            self.first_byte(row)

    def measure(self, contender: Contender, row: Row) -> None:
        """The CPU time of one contender per unit of a row."""
        running = self.running[contender]
        requests = max(row.concurrency, row.requests // 4) if self.quick or contender.slow else row.requests
        work = job(contender, self.provider_port, row, requests=requests)
        if contender.slow and row.size:
            work.requests = work.concurrency = 6
        before = running.cpu()
        done = drive(running.port, work)
        spent = running.cpu() - before
        if row.size and done["done"] and done["chunks"] < LEAST_TEXTS * done["done"]:
            done["errors"] += done["done"]
        if done["errors"]:
            self.samples.add(contender.name, f"{row.figure}: errors", done["errors"])
        if done["done"]:
            self.samples.add(contender.name, row.figure, spent * 1e6 / (done["done"] * row.units))

    def first_byte(self, row: Row) -> None:
        """What a contender adds to the time until the first byte of the answer has come, in the median of a round."""
        work: dict[str, Any] = {"requests": 10 if self.quick else row.requests, "rate": 50.0}
        direct = Contender("direct", lambda *_: ([], {}))
        straight = drive(self.provider_port, job(direct, self.provider_port, row, **work))["first_p50"]
        for contender in self.order():
            if not row.asks(contender):
                continue
            done = drive(self.running[contender].port, job(contender, self.provider_port, row, **work))
            if done["done"] and not done["errors"]:
                figure = f"added time to first byte p50, ms, {row.name}"
                self.samples.add(contender.name, figure, (done["first_p50"] - straight) * 1000)

    def _measured_in_all(self) -> list[tuple[Contender, Running]]:
        return [(contender, running) for contender, running in self.running.items() if not contender.rows]

    def latency(self) -> None:
        """Added latency of the small request at a fixed low rate, over asking the provider directly."""
        direct = Contender("direct", lambda *_: ([], {}))
        work: dict[str, Any] = {"requests": 50 if self.quick else 300, "concurrency": 1, "rate": 100.0}
        straight = drive(self.provider_port, job(direct, self.provider_port, REQUEST, **work))
        for contender, running in self._measured_in_all():
            through = drive(running.port, job(contender, self.provider_port, REQUEST, **work))
            for figure in ("p50", "p99"):
                added = (through[figure] - straight[figure]) * 1000
                self.samples.add(contender.name, f"added latency {figure}, ms", added)

    def maximum(self) -> None:
        """As fast as it goes: requests a second, chunks a second."""
        for contender, running in self._measured_in_all():
            count = 300 if contender.slow else 3000 if self.quick else 8000
            work = job(contender, self.provider_port, REQUEST, requests=count, concurrency=32)
            done = drive(running.port, work)
            self.samples.add(contender.name, "requests a second", done["done"] / done["seconds"])
            at_once = 1 if contender.slow else 4
            flood = Row("flood", "text-20000-0", 20000, requests=at_once, concurrency=at_once)
            done = drive(running.port, job(contender, self.provider_port, flood))
            if done["done"]:
                self.samples.add(contender.name, "chunks a second", done["chunks"] / done["seconds"])

    def memory(self) -> None:
        """Memory with many streams open."""
        for contender, _ in self._measured_in_all():
            for count in (200,) if self.quick else (1000, 2000):
                if count <= 1000 or contender.name in ("nginx", "moongate"):
                    self.hold(contender, count)

    def hold(self, contender: Contender, count: int) -> None:
        running, label = self.running[contender], f"memory with {count} streams, MiB"
        held = job(contender, self.provider_port, Row("hold", "hold"), concurrency=count, seconds=6.0)
        command = [*DRIVE, str(running.port)]
        driver = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert driver.stdin is not None
        driver.stdin.write(json.dumps(asdict(held)))
        driver.stdin.close()
        driver.stdin = None  # communicate() would flush it
        time.sleep(5)
        self.samples.add(contender.name, label, running.memory())
        out, _ = driver.communicate(timeout=60)
        if errors := json.loads(out)["errors"]:
            self.samples.add(contender.name, f"{label}: errors", errors)

    def workers(self, one: Contender, python: str) -> None:
        """What a second worker brings: requests a second, each with many short messages whose ids are all mended.
        They take the gateway long and are few bytes, so that driver and provider hardly need a core."""
        for contender in set(self.running) - {one}:
            self.running.pop(contender).stop()  # some are busy for long with the streams that were held
        pair = build("two workers", python, workers=2)
        running = pair.start(self.provider_port)
        work = job(one, self.provider_port, REQUEST, requests=300 if self.quick else 600, concurrency=32)
        work.body = json.dumps(many_messages(json.loads(work.body)))
        rates = {"one": 0.0, "two": 0.0}
        try:
            running.wait()
            for _ in range(5):
                for name, each in (("one", self.running[one]), ("two", running)):
                    done = drive(each.port, work)
                    rates[name] = max(rates[name], done["done"] / done["seconds"])
        finally:
            running.stop()
        self.samples.add(one.name, "two workers, times one", rates["two"] / rates["one"])
