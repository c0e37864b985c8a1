"""100 000 short inputs for every target; `make fuzz` takes longer ones.

The two targets that take longest have files of their own, so that two workers can share the work.
"""

from __future__ import annotations

import pytest
from tests.fuzz.run import SHORT, SHORTER, by_dice, launch
from tests.fuzz.targets import TARGETS

RUNS = 100_000
SMALL = 100
LONGEST = ("accumulator", "k3")


def fuzzed(target: str) -> None:
    done = launch(target, RUNS, SHORTER.get(target, SHORT))
    assert done.good, done.output[-6000:]
    assert done.runs == RUNS


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in LONGEST])
def test_by_atheris(target: str) -> None:
    fuzzed(target)


@pytest.mark.parametrize("target", TARGETS)
def test_by_dice(target: str) -> None:
    by_dice(target, SMALL)


@pytest.mark.parametrize(
    ("defect", "told"),
    [("forgets", "assertionerror"), ("raises", "keyerror"), ("hangs", "timeout")],
)
def test_a_defect_is_found(defect: str, told: str) -> None:
    done = launch(defect, RUNS, SHORT, seconds=2)
    assert not done.good
    assert told in done.output.lower()


def test_a_defect_is_found_by_dice() -> None:
    with pytest.raises(KeyError):
        by_dice("raises", RUNS)
