"""A request that is over is freed at once: its objects form no cycles, for which Python would have to search."""

from __future__ import annotations

import gc

import pytest
import uvloop
from bench.inside import Inside, cpu_of, rows

WARM_SECONDS = 0.02
NAMES = [
    *("request", "request, messages", "request, responses"),
    *("stream of 10", "stream of 100, messages", "stream of 100, responses", "stream of 100 with markers, agent"),
    *("turn, chat", "turn, messages, native call", "turn, responses, marker call", "turn, chat, new tools"),
    "turn, messages, native call, guard",
]


async def garbage(name: str) -> int:
    inside = Inside()
    run = rows(inside)[name]
    await cpu_of(run, WARM_SECONDS)
    gc.collect()
    gc.freeze()  # what exists already is not searched
    gc.disable()
    try:
        await cpu_of(run, WARM_SECONDS)
        return gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()
        inside.close()


@pytest.mark.parametrize("name", NAMES)
def test_no_request_leaves_cycles(name: str) -> None:
    assert uvloop.run(garbage(name)) == 0
