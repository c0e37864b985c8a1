"""`make bench-growth`: cost against concurrency, history length, chunk size and chunks per read, beside nginx.

python -m bench.growth [--only CURVE ...] [--json FILE] [--charts FOLDER]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.chart import curves
from bench.contenders import CHUNK_SIZES, CHUNKS_A_READ, CONTENDERS, STREAMS_AT_ONCE, paced
from bench.run import ROWS, Bench, Row, drive, job

Curve = dict[str, list[tuple[float, float]]]
HISTORY = (10, 30, 100, 300, 1000)


def cpu_per_unit(bench: Bench, name: str, row: Row, body: str = "", rounds: int = 2) -> float | None:
    """CPU µs a unit, the best of some rounds; None if any request failed."""
    best: float | None = None
    for _ in range(rounds):
        running = bench.running[name]
        work = job(CONTENDERS[name], bench.provider_port, row)
        work.body = body or work.body
        before = running.cpu()
        done = drive(running.port, work)
        spent = (running.cpu() - before) * 1e6 / (max(1, done["done"]) * row.units)
        if done["errors"] or not done["done"]:
            return None
        best = spent if best is None else min(best, spent)
    return best


def streams_at_once(bench: Bench, name: str) -> list[tuple[float, float | None]]:
    found: list[tuple[float, float | None]] = []
    for streams in STREAMS_AT_ONCE:
        row = Row("", paced(streams), 50, requests=max(20, streams), concurrency=streams)
        found.append((streams, cpu_per_unit(bench, name, row, rounds=1 if streams >= 1000 else 2)))
    return found


def history(bench: Bench, name: str) -> list[tuple[float, float | None]]:
    found: list[tuple[float, float | None]] = []
    for length in HISTORY:
        row = Row("", "small", 1, requests=max(60, 6000 // length), concurrency=4)
        said = json.loads(job(CONTENDERS[name], bench.provider_port, ROWS[0]).body)
        turn = [{"role": "user", "content": "go on " * 40}, {"role": "assistant", "content": "as you wish " * 40}]
        said["messages"] = (turn * length)[: length - 1] + said["messages"]
        found.append((length, cpu_per_unit(bench, name, row, json.dumps(said))))
    return found


def chunk_size(bench: Bench, name: str) -> list[tuple[float, float | None]]:
    return [(size, cpu_per_unit(bench, name, Row("", f"text-100-5-{size}", 100))) for size in CHUNK_SIZES]


def chunks_a_read(bench: Bench, name: str) -> list[tuple[float, float | None]]:
    return [(per, cpu_per_unit(bench, name, Row("", f"text-640-5-34-{per}", 640))) for per in CHUNKS_A_READ]


CURVES = {
    "concurrency": ("CPU µs per chunk over streams at once", "streams at once", streams_at_once),
    "history": ("CPU µs per request over messages in the history", "messages", history),
    "chunk-size": ("CPU µs per chunk over its size", "characters a chunk", chunk_size),
    "chunks-a-read": ("CPU µs per chunk over chunks per read", "chunks a read", chunks_a_read),
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="*", default=list(CURVES), choices=list(CURVES))
    options.add_argument("--json", type=Path)
    options.add_argument("--charts", type=Path)
    asked = options.parse_args()
    bench = Bench(["nginx", "moongate"], quick=False)
    drawn: dict[str, Curve] = {}
    try:
        for key in asked.only:
            title, across, measure = CURVES[key]
            lines = {name: measure(bench, name) for name in bench.running}
            print(title)
            for name, points in lines.items():
                shown = "  ".join(f"{x:,.0f}: {'failed' if y is None else f'{y:.1f}'}" for x, y in points)
                print(f"  {name:10}{shown}")
            drawn[key] = {name: [(x, y) for x, y in points if y is not None] for name, points in lines.items()}
            if asked.charts:
                (asked.charts / f"growth-{key}.svg").write_text(curves(title, across, drawn[key]))
    finally:
        bench.stop()
    for name, why in bench.skipped.items():
        print(f"{name}: skipped, {why}")
    if asked.json:
        asked.json.write_text(json.dumps(drawn, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
