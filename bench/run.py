"""`make bench`: every contender under the same load in alternating rounds; one table, every figure a ratio to nginx.

    python -m bench.run [--quick] [--rows turn small] [--only NAME ...] [--build NAME=PYTHON[,SOURCE] ...]
                        [--rounds N] [--no-aa] [--json FILE] [--chart FILE]

`--quick --rows turn` takes less than two minutes: nginx, moongate compiled and as Python, 326 KB, three rounds.
`--build before=/path/to/python` adds another build of moongate; with `,SOURCE` its package is taken from that folder.

CPU figures are the contender's own processes (the driver and the fake provider run apart). Each figure is the median
of its rounds, each ratio the median of the rounds' ratios. nginx and the first build run twice: the column A/A says how
far apart the two ratios of one build are, and a difference below that says nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.chart import bars
from bench.contender import Contender
from bench.contenders import COMPILED, CONTENDERS, QUICK, again, build
from bench.harness import Bench
from bench.rows import ROWS
from bench.table import printed


def other_build(given: str) -> Contender:
    name, _, place = given.partition("=")
    python, _, source = place.partition(",")
    if not name or not python:
        raise argparse.ArgumentTypeError(f"{given!r} is not NAME=PYTHON or NAME=PYTHON,SOURCE")
    return build(name, python, source=source)


def chosen(asked: argparse.Namespace) -> list[Contender]:
    """Who takes part; a second process of a contender stands behind the first of all of them."""
    names = asked.only or (QUICK if asked.quick else list(CONTENDERS))
    found = [*(CONTENDERS[name] for name in names), *asked.build]
    builds = [each for each in found if each.build and not each.missing()]
    twins = [each for each in found if each.name == "nginx"] + builds[:1] if asked.aa else []
    return [*found, *map(again, twins)]


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer rows, rounds and requests; no peers")
    options.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    options.add_argument("--rounds", type=int, help="default: 5, quick: 3")
    options.add_argument(
        "--minutes", type=float, default=60.0, help="no row is begun afterwards; what is left out is told"
    )
    options.add_argument("--only", nargs="*", choices=list(CONTENDERS))
    options.add_argument("--build", nargs="*", type=other_build, default=[], metavar="NAME=PYTHON[,SOURCE]")
    options.add_argument("--no-aa", dest="aa", action="store_false", help="nobody runs twice")
    options.add_argument("--json", type=Path)
    options.add_argument("--chart", type=Path)
    return options.parse_args()


def measure(bench: Bench, rounds: int, small: bool) -> None:
    for number in range(rounds):
        bench.round(number)
        if small:
            bench.latency()
    if small:
        bench.maximum()
        bench.memory()
        if CONTENDERS["moongate"] in bench.running:
            bench.workers(CONTENDERS["moongate"], str(COMPILED))


def main() -> int:
    asked = arguments()
    with Bench(chosen(asked), quick=asked.quick, rows=asked.rows, minutes=asked.minutes) as bench:
        measure(bench, asked.rounds or (3 if asked.quick else 5), "small" in asked.rows)
    print(printed(bench.samples, bench.skipped))
    if asked.json:
        found = {"figures": bench.samples.medians(), "samples": bench.samples.values, "skipped": bench.skipped}
        asked.json.write_text(json.dumps(found, indent=1, ensure_ascii=False))
    if asked.chart:
        asked.chart.write_text(bars(bench.samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
