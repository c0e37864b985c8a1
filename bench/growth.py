"""`make bench-growth`: cost against the size of a turn, concurrency, history, chunk size and chunks per read.

    python -m bench.growth [--only CURVE ...] [--json FILE] [--charts FOLDER]

Beside nginx. For the turn a straight line is fitted: what a turn costs anyway, and what each further KB costs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from bench.chart import curves
from bench.contender import CHUNK_SIZES, CHUNKS_A_READ, STREAMS_AT_ONCE, Contender, paced
from bench.contenders import CONTENDERS
from bench.fit import Line, fitted
from bench.harness import Bench, drive
from bench.rows import REQUEST, Row, job, turn_row
from bench.turns import FRONTS

Points = list[tuple[float, float | None]]
HISTORY = (10, 30, 100, 300, 1000)
TURNS = (100, 200, 400, 800, 1600, 3200)  # KB


def cpu_per_unit(bench: Bench, who: Contender, row: Row, body: str = "", rounds: int = 2) -> float | None:
    """CPU µs a unit, the best of some rounds; None if any request failed."""
    best: float | None = None
    for _ in range(rounds):
        running = bench.running[who]
        work = job(who, bench.provider_port, row)
        work.body = body or work.body
        before = running.cpu()
        done = drive(running.port, work)
        spent = (running.cpu() - before) * 1e6 / (max(1, done["done"]) * row.units)
        if done["errors"] or not done["done"]:
            return None
        best = spent if best is None else min(best, spent)
    return best


def turns_on(front: str) -> Callable[[Bench, Contender], Points]:
    """A turn answered with 100 chunks of text; every size has the same tools and a longer history."""

    def measure(bench: Bench, who: Contender) -> Points:
        return [(size, cpu_per_unit(bench, who, turn_row(size, front), rounds=3)) for size in TURNS]

    return measure


def streams_at_once(bench: Bench, who: Contender) -> Points:
    found: Points = []
    for streams in STREAMS_AT_ONCE:
        row = Row("", paced(streams), 50, requests=max(20, streams), concurrency=streams)
        found.append((streams, cpu_per_unit(bench, who, row, rounds=1 if streams >= 1000 else 2)))
    return found


def history(bench: Bench, who: Contender) -> Points:
    found: Points = []
    for length in HISTORY:
        row = Row("", "small", requests=max(60, 6000 // length), concurrency=4)
        request = json.loads(job(who, bench.provider_port, REQUEST).body)
        turn = [{"role": "user", "content": "go on " * 40}, {"role": "assistant", "content": "as you wish " * 40}]
        request["messages"] = (turn * length)[: length - 1] + request["messages"]
        found.append((length, cpu_per_unit(bench, who, row, json.dumps(request))))
    return found


def chunk_size(bench: Bench, who: Contender) -> Points:
    return [(size, cpu_per_unit(bench, who, Row("", f"text-100-5-{size}", 100))) for size in CHUNK_SIZES]


def chunks_a_read(bench: Bench, who: Contender) -> Points:
    return [(per, cpu_per_unit(bench, who, Row("", f"text-640-5-34-{per}", 640))) for per in CHUNKS_A_READ]


CURVES: dict[str, tuple[str, str, Callable[[Bench, Contender], Points]]] = {
    **{f"turn-{front}": (f"CPU µs per turn over its size, {front}", "KB", turns_on(front)) for front in FRONTS},
    "concurrency": ("CPU µs per chunk over streams at once", "streams at once", streams_at_once),
    "history": ("CPU µs per request over messages in the history", "messages", history),
    "chunk-size": ("CPU µs per chunk over its size", "characters a chunk", chunk_size),
    "chunks-a-read": ("CPU µs per chunk over chunks per read", "chunks a read", chunks_a_read),
}


def shown(name: str, points: Points, line: Line | None) -> str:
    values = "  ".join(f"{x:,.0f}: {'failed' if y is None else f'{y:.1f}'}" for x, y in points)
    if line is None:
        return f"  {name:16}{values}"
    return f"  {name:16}{values}   = {line.base:.0f} + {line.slope:.2f} · x, worst point {line.off:.0%} off"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="*", default=list(CURVES), choices=list(CURVES))
    options.add_argument("--contenders", nargs="*", default=["nginx", "moongate"], choices=list(CONTENDERS))
    options.add_argument("--json", type=Path)
    options.add_argument("--charts", type=Path)
    asked = options.parse_args()
    drawn: dict[str, dict[str, list[tuple[float, float]]]] = {}
    lines: dict[str, dict[str, object]] = {}
    with Bench(CONTENDERS[name] for name in asked.contenders) as bench:
        for key in asked.only:
            title, across, measure = CURVES[key]
            print(title)
            drawn[key] = {}
            for who in bench.running:
                points = measure(bench, who)
                drawn[key][who.name] = known = [(x, y) for x, y in points if y is not None]
                line = fitted(known) if key.startswith("turn") else None
                if line is not None:
                    lines.setdefault(key, {})[who.name] = asdict(line)
                print(shown(who.name, points, line), flush=True)
            if asked.charts:
                (asked.charts / f"growth-{key}.svg").write_text(curves(title, across, drawn[key]))
    for name, why in bench.skipped.items():
        print(f"{name}: skipped, {why}")
    if asked.json:
        asked.json.write_text(json.dumps({**drawn, "lines": lines}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
