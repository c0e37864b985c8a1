"""Does the cost grow as the input does? Floods, doubled from 64 KiB to 8 MiB.

    python -m bench.linear               all of them
    python -m bench.linear K3 "tiny"     those whose names have such a text in them
    python -m bench.linear --top 1       up to 1 MiB

CPU time of one process, the best of five runs (of one, where a run takes more than two seconds). A quadratic parser
would need four times as long for twice the input; the goal is at most 2.3 times. And 8 MiB that come in deltas of 4 KiB
take at most half a second.
"""

from __future__ import annotations

import argparse
import gc
import sys
from itertools import pairwise
from time import process_time

from bench.floods import DELTA, FLOODS, Flood, Run

SMALLEST = 64 * 1024
LARGEST = 8 * 1024 * 1024
GOAL = 2.3
MOST_SECONDS = 0.5  # for the largest, where deltas are 4 KiB
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
    return [seconds(flood.make(size), 5) for size in sizes]


def worst_doubling(costs: list[float]) -> float:
    """The largest factor between neighbours that take long enough to tell; 0 if none does."""
    return max((after / before for before, after in pairwise(costs) if before > NOISE), default=0.0)


def verdict(flood: Flood, costs: list[float], largest: int) -> tuple[str, bool, bool]:
    """In words, and whether it grows too fast and whether it is too slow."""
    worst = worst_doubling(costs)
    fast = worst > GOAL
    slow = largest == LARGEST and flood.delta == DELTA and costs[-1] > MOST_SECONDS
    words = [f"x {worst:.2f}" + "  MISSED" * fast if worst else "too quick to tell"]
    words += [f"MISSED: {costs[-1]:.2f} s"] * slow
    return "  ".join(words), fast, slow


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only floods with such a text in their names")
    parser.add_argument("--top", type=float, default=8, help="largest input in MiB (default: 8)")
    asked = parser.parse_args()
    sizes = [SMALLEST]
    while sizes[-1] * 2 <= asked.top * 1024 * 1024:
        sizes.append(sizes[-1] * 2)
    shown = sizes[-4:]
    print(f"{'seconds for':34}" + "".join(f"{size // 1024:>8} K" for size in shown) + "   worst doubling")
    floods = [flood for flood in FLOODS if not asked.names or any(name in flood.name for name in asked.names)]
    all_fast = all_slow = 0
    for flood in floods:
        costs = growth(flood, sizes)
        words, fast, slow = verdict(flood, costs, sizes[-1])
        all_fast, all_slow = all_fast + fast, all_slow + slow
        print(f"{flood.name:34}" + "".join(f"{cost:>10.3f}" for cost in costs[-4:]) + f"   {words}", flush=True)
    print(f"{len(floods)} floods: {all_fast} grow by more than x {GOAL} where the input doubles", end="")
    print(f", {all_slow} take more than {MOST_SECONDS} s for 8 MiB" if sizes[-1] == LARGEST else "")
    return 1 if all_fast or all_slow else 0


if __name__ == "__main__":
    sys.exit(main())
