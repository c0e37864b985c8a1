"""The fuzzing's short form: as many of the 100 000 runs of `make fuzz` as 20 seconds allow, told at the end.

This file and its neighbour are two so that two workers can share them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.fuzz.run import Outcome, by_dice, launch
from tests.fuzz.targets import TARGETS

RUNS, SECONDS = 100_000, 20
SMALL = 100
REQUESTS = ("ids", "chat", "messages", "responses", "config")


def fuzzed(target: str, tell: Callable[[str, object], None]) -> None:
    done: Outcome = launch(target, RUNS, SECONDS)
    tell("fuzz", f"{target}: {done.runs} of {RUNS} runs in at most {SECONDS} s")
    assert done.good, done.output[-6000:]


@pytest.mark.parametrize("target", TARGETS)
def test_by_dice(target: str) -> None:
    assert by_dice(target, SMALL) == SMALL


def test_dice_stop_in_time() -> None:
    assert by_dice("ids", 1 << 60, 0.01) < 1 << 60


@pytest.mark.parametrize("target", REQUESTS)
def test_by_atheris(target: str, record_property: Callable[[str, object], None]) -> None:
    fuzzed(target, record_property)
