"""Where the time of a turn goes before its answer: each stage alone, on every front.

    python -m bench.stages [--size KB] [--seconds S]

CPU µs, the best of some rounds, hot and in one process. `python -m bench.inside` has the whole turn with its answer,
without sockets. With `.compiled/bin/python` these are the compiled modules.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import count
from time import process_time
from typing import Any

from bench import turns
from moongate import KimiTransformer
from moongate.chat.contracts import Dialect
from moongate.dialects.fronts import CHAT, MESSAGES, RESPONSES
from moongate.gateway.http.json_body import deeper_than, read_object
from moongate.payload import dumps, loads

DEPTH = 128
MODEL = "text-100-5"
FRONTS: tuple[Dialect, ...] = (CHAT, MESSAGES, RESPONSES)

Stage = Callable[[], object]


def stages(front: Dialect, size: int) -> dict[str, Stage]:
    """By name; each works on what the one before would give it."""
    body = turns.body(front.name, size, MODEL).encode()
    asked = read_object(body, DEPTH)
    chat = front.decode(asked)
    kimi = KimiTransformer.from_config(turns.RULES, model=MODEL)
    request = kimi.begin(chat).request
    old, new = turns.REVISION.encode(), count(10**7)

    def new_tools() -> list[Any]:
        found: list[Any] = loads(dumps(chat["tools"]).replace(old, b"revision %08d" % next(new)))
        return found

    def all_of_it() -> bytes:
        return dumps(kimi.begin(front.decode(read_object(body, DEPTH))).request)

    return {
        "JSON to objects": lambda: loads(body),
        "count brackets": lambda: body.count(b"{") + body.count(b"["),
        "nested too deep?": lambda: deeper_than(asked, DEPTH),
        "front to chat": lambda: front.decode(asked),
        "Kimi": lambda: kimi.begin(chat),
        "Kimi, tools without history": lambda: kimi.begin({**chat, "messages": chat["messages"][-1:]}),
        "Kimi, history without tools": lambda: kimi.begin({k: v for k, v in chat.items() if k != "tools"}),
        "Kimi, new tools, their JSON included": lambda: kimi.begin({**chat, "tools": new_tools()}),
        "objects to JSON": lambda: dumps(request),
        "all of it": all_of_it,
    }


def best_of(stage: Stage, seconds: float) -> float:
    """CPU µs of the fastest of the runs."""
    best, until = float("inf"), process_time() + seconds
    while process_time() < until:
        began = process_time()
        for _ in range(5):
            stage()
        best = min(best, (process_time() - began) / 5)
    return best * 1e6


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=turns.HEADLINE)
    options.add_argument("--seconds", type=float, default=0.5, help="per stage")
    asked = options.parse_args()
    found = {front.name: stages(front, asked.size) for front in FRONTS}
    print(f"{'CPU µs':40}" + "".join(f"{name:>12}" for name in found))
    for stage in found["chat"]:
        print(
            f"{stage:40}" + "".join(f"{best_of(each[stage], asked.seconds):12.0f}" for each in found.values()),
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
