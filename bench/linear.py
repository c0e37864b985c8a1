"""Does the cost grow as the input does? Floods, doubled from 64 KiB to 8 MiB.

    python -m bench.linear               all of them
    python -m bench.linear K3 "tiny"     those whose names have such a text in them
    python -m bench.linear --top 1       up to 1 MiB

CPU time of one process, the best of three runs (of one, where a run takes more than two seconds). A quadratic parser
would need four times as long for twice the input; the goal is at most 2.3 times.
"""

from __future__ import annotations

import argparse
import gc
from itertools import pairwise
from time import process_time

from bench.floods import FLOODS, Flood, Run

SMALLEST = 64 * 1024
GOAL = 2.3
NOISE = 0.02  # seconds: below this a ratio says nothing


def seconds(run: Run, rounds: int = 3) -> float:
    """CPU time of the best of some runs."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        start = process_time()
        run()
        best = min(best, process_time() - start)
        if best > 2:
            break
    return best


def growth(flood: Flood, sizes: list[int]) -> list[float]:
    return [seconds(flood.make(size)) for size in sizes]


def worst_doubling(costs: list[float]) -> float:
    """The largest factor between neighbours that take long enough to tell; 0 if none does."""
    return max((after / before for before, after in pairwise(costs) if before > NOISE), default=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only floods with such a text in their names")
    parser.add_argument("--top", type=float, default=8, help="largest input in MiB (default: 8)")
    asked = parser.parse_args()
    sizes = [SMALLEST]
    while sizes[-1] * 2 <= asked.top * 1024 * 1024:
        sizes.append(sizes[-1] * 2)
    shown = sizes[-4:]
    print(f"{'seconds for':34}" + "".join(f"{size // 1024:>8} K" for size in shown) + "   worst doubling")
    for flood in FLOODS:
        if asked.names and not any(name in flood.name for name in asked.names):
            continue
        costs = growth(flood, sizes)
        worst = worst_doubling(costs)
        verdict = "too quick to tell" if not worst else f"x {worst:.2f}" + ("" if worst <= GOAL else "  MISSED")
        print(f"{flood.name:34}" + "".join(f"{cost:>10.3f}" for cost in costs[-4:]) + f"   {verdict}", flush=True)


if __name__ == "__main__":
    main()
