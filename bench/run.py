"""`make bench`: every contender under the same load in alternating rounds; one table, every figure a ratio to nginx.

    python -m bench.run [--quick] [--rounds N] [--only NAME ...] [--json FILE] [--chart FILE]

CPU figures are the contender's own processes (the driver and the fake provider run apart). The machine may be
shared and noisy: each figure is the best of its rounds, and all contenders take turns within each round.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.chart import bars
from bench.contenders import CONTENDERS, KEY, Contender, moongate
from bench.load import Job
from bench.process import Running
from bench.table import printed

QUESTION = [{"role": "user", "content": "Say hello, please."}]
TOOL = {"name": "read_file", "description": "Read a file", "parameters": {"type": "object", "properties": {}}}
TOOLS = [{"type": "function", "function": TOOL}]


@dataclass(frozen=True)
class Row:
    """One figure: what is asked, of whom, and what one unit is."""

    name: str
    model: str
    units: int  # a request's
    only: str = ""  # "moongate": nobody else can
    prefix: str = ""
    front: str = "chat"
    requests: int = 40
    concurrency: int = 20


ROWS = [
    Row("request", "small", 1, requests=3000, concurrency=8),
    Row("chunk", "text-100-5", 100),
    Row("chunk, agent preset", "text-100-5", 100, only="moongate", prefix="agent/"),
    Row("chunk of markers, agent preset", "markers-100-5", 100, only="moongate", prefix="agent/"),
    Row("request, messages", "small", 1, only="moongate", front="messages", requests=3000, concurrency=8),
    Row("chunk, messages", "text-100-5", 100, only="moongate", front="messages"),
    Row("request, responses", "small", 1, only="moongate", front="responses", requests=3000, concurrency=8),
    Row("chunk, responses", "text-100-5", 100, only="moongate", front="responses"),
]


def job(contender: Contender, provider: int, row: Row, **more: Any) -> Job:
    model = (row.prefix or contender.prefix) + row.model
    stream = row.model != "small"
    if row.front == "messages":
        tools = [{"name": TOOL["name"], "input_schema": TOOL["parameters"]}]
        path, body = (
            "/v1/messages",
            {"model": model, "max_tokens": 512, "messages": QUESTION, "stream": stream, "tools": tools},
        )
    elif row.front == "responses":
        path, body = (
            "/v1/responses",
            {"model": model, "input": QUESTION, "stream": stream, "tools": [{"type": "function", **TOOL}]},
        )
    else:
        path, body = contender.path, {"model": model, "messages": QUESTION, "stream": stream}
        if "agent" in row.prefix:
            body["tools"] = TOOLS
    settings = {"requests": row.requests, "concurrency": row.concurrency, "stream": stream, **more}
    return Job(path=path, body=json.dumps(body), headers=contender.headers(provider), **settings)


def drive(port: int, work: Job) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.load", str(port), "-"]  # a long history is too long for an argument
    told = json.dumps(asdict(work))
    done = subprocess.run(command, input=told, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        return {"errors": work.requests, "first_error": done.stderr[-300:], "done": 0}
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def long_conversation(turns: int = 200) -> list[dict[str, Any]]:
    """Tool calls and their results, with ids that Kimi does not understand."""
    said: list[dict[str, Any]] = [*QUESTION]
    for turn in range(turns):
        function = {"name": TOOL["name"], "arguments": '{"path": "src/module/file.py"}'}
        call = {"id": f"call_{turn:08x}", "type": "function", "function": function}
        said.append({"role": "assistant", "content": None, "tool_calls": [call]})
        said.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
    return said + QUESTION


def direct(provider: int) -> Contender:
    return Contender("direct", lambda *_: ([], {}), headers=lambda _: {"authorization": f"Bearer {KEY}"})


class Bench:
    """One run: contenders that are up, figures by contender and row."""

    def __init__(self, names: list[str], quick: bool) -> None:
        self.quick = quick
        self.provider = subprocess.Popen([sys.executable, "-m", "bench.upstream"], stdout=subprocess.PIPE, text=True)
        assert self.provider.stdout is not None
        self.provider_port = int(self.provider.stdout.readline())
        self.running: dict[str, Running] = {}
        self.figures: dict[str, dict[str, float]] = {}
        self.skipped: dict[str, str] = {}
        for name in names:
            self.start(CONTENDERS[name])

    def start(self, contender: Contender) -> None:
        if why := contender.missing():
            self.skipped[contender.name] = why
            return
        running = contender.start(self.provider_port)
        try:
            running.wait()
            first = drive(running.port, job(contender, self.provider_port, ROWS[0], requests=1, concurrency=1))
            if not first["done"]:
                raise RuntimeError(f"first request failed: {first['first_error']!r}")
        except RuntimeError as error:
            running.stop()
            self.skipped[contender.name] = str(error)
            return
        self.running[contender.name] = running
        self.figures[contender.name] = {
            "start-up, ms": (time.perf_counter() - running.began) * 1000,
            "memory idle, MiB": running.memory(),
        }

    def keep(self, name: str, figure: str, value: float, better: Any = min) -> None:
        known = self.figures[name].get(figure)
        self.figures[name][figure] = value if known is None else better(known, value)

    def round(self) -> None:
        """One round: every row, all contenders after one another within the row."""
        for row in ROWS:
            for name, running in self.running.items():
                if row.only in ("", name):
                    self.measure(name, running, row)

    def measure(self, name: str, running: Running, row: Row) -> None:
        scale = 4 if self.quick or name in ("litellm", "portkey", "llms") else 1
        requests = max(row.concurrency, row.requests // scale)
        before = running.cpu()
        done = drive(running.port, job(CONTENDERS[name], self.provider_port, row, requests=requests))
        spent = running.cpu() - before
        if done["errors"]:
            self.keep(name, f"{row.name}: errors", done["errors"], max)
        if done["done"]:
            self.keep(name, f"CPU µs per {row.name}", spent * 1e6 / (done["done"] * row.units))

    def latency(self) -> None:
        """Added latency at a fixed low rate, over asking the provider directly."""
        plain = direct(self.provider_port)
        work = {"requests": 50 if self.quick else 300, "concurrency": 1, "rate": 100.0}
        straight = drive(self.provider_port, job(plain, self.provider_port, ROWS[0], **work))
        for name, running in self.running.items():
            through = drive(running.port, job(CONTENDERS[name], self.provider_port, ROWS[0], **work))
            for figure in ("p50", "p99"):
                self.keep(name, f"added latency {figure}, ms", (through[figure] - straight[figure]) * 1000)

    def maximum(self) -> None:
        """As fast as it goes: requests a second, chunks a second."""
        for name, running in self.running.items():
            slow = name in ("litellm", "portkey", "llms")
            count = 300 if slow else 3000 if self.quick else 8000
            done = drive(
                running.port, job(CONTENDERS[name], self.provider_port, ROWS[0], requests=count, concurrency=32)
            )
            self.keep(name, "requests a second", done["done"] / done["seconds"], max)
            flood = Row("flood", "text-20000-0", 20000, requests=1 if slow else 4, concurrency=1 if slow else 4)
            done = drive(running.port, job(CONTENDERS[name], self.provider_port, flood))
            if done["done"]:
                self.keep(name, "chunks a second", done["chunks"] / done["seconds"], max)

    def memory(self) -> None:
        """Memory with many streams open."""
        for name, running in self.running.items():
            for count in (200,) if self.quick else (1000, 2000):
                if count <= 1000 or name in ("nginx", "moongate"):
                    self.hold(name, running, count)

    def hold(self, name: str, running: Running, count: int) -> None:
        held = job(CONTENDERS[name], self.provider_port, Row("hold", "hold", 1), concurrency=count, seconds=6.0)
        command = [sys.executable, "-m", "bench.load", str(running.port), json.dumps(asdict(held))]
        driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        time.sleep(5)
        label = f"memory with {count} streams, MiB"
        self.keep(name, label, running.memory())
        out, _ = driver.communicate(timeout=60)
        if json.loads(out)["errors"]:
            self.keep(name, f"{label}: errors", json.loads(out)["errors"], max)

    def workers(self) -> None:
        """What a second worker brings: requests a second of long conversations, whose ids all have to be mended. They
        keep the gateway so busy that driver and provider hardly need a core: each worker has nearly one to itself."""
        for name in set(self.running) - {"moongate"}:
            self.running.pop(name).stop()  # some are busy for long with the streams that were held
        pair = Contender("two workers", partial(moongate, workers=2), prefix="plain/").start(self.provider_port)
        work = job(CONTENDERS["moongate"], self.provider_port, ROWS[0], requests=300 if self.quick else 600)
        work.body = json.dumps({**json.loads(work.body), "messages": long_conversation(), "tools": TOOLS})
        work.concurrency = 32
        rates = {"one": 0.0, "two": 0.0}
        try:
            pair.wait()
            for _ in range(5):
                for name, running in (("one", self.running["moongate"]), ("two", pair)):
                    done = drive(running.port, work)
                    rates[name] = max(rates[name], done["done"] / done["seconds"])
        finally:
            pair.stop()
        self.keep("moongate", "two workers, times one", rates["two"] / rates["one"])

    def stop(self) -> None:
        for running in self.running.values():
            running.stop()
        self.provider.kill()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--only", nargs="*", default=list(CONTENDERS), choices=list(CONTENDERS))
    options.add_argument("--json", type=Path)
    options.add_argument("--chart", type=Path)
    asked = options.parse_args()
    bench = Bench(asked.only, asked.quick)
    try:
        for _ in range(asked.rounds):
            bench.round()
            bench.latency()
        bench.maximum()
        bench.memory()
        if "moongate" in bench.running:
            bench.workers()
    finally:
        bench.stop()
    print(printed(bench.figures, bench.skipped))
    if asked.json:
        asked.json.write_text(
            json.dumps({"figures": bench.figures, "skipped": bench.skipped}, indent=1, ensure_ascii=False)
        )
    if asked.chart:
        asked.chart.write_text(bars(bench.figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
