"""`python -m tests.fuzz [--runs N] [target …]`: every target in a process of its own, two at a time; 1 if any fails."""

from __future__ import annotations

import argparse
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz.run import Job, launch
from tests.fuzz.targets import TARGETS

RUNS = 100_000


def fuzz(name: str, runs: int) -> tuple[str, bool, str]:
    began = time.monotonic()
    done = launch([Job(name, runs)])[name]
    covered = re.findall(r"cov: (\d+)", done.output)
    seconds = round(time.monotonic() - began)
    found = "none" if done.good else "SOME"
    row = f"| {name} | {done.runs} | {covered[-1] if covered else '-'} | {seconds} s | {found} |"
    return row, done.good, done.output


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; default: all")
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    good = True
    print("| target | runs | places covered | time | findings |\n|---|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(2) as pool:
        for row, fine, output in pool.map(lambda name: fuzz(name, options.runs), names):
            print(row, flush=True)
            if not fine:
                print(output[-6000:], file=sys.stderr, flush=True)
                good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
