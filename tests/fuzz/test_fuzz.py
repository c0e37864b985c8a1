"""Short inputs for every target: 2 000 in `make test`, 100 000 in `make test-all`. `make fuzz` takes longer ones.

The targets that take longest have files of their own, so that two workers can share the work.
"""

from __future__ import annotations

import pytest
from tests.fuzz.run import SHORT, SHORTER, by_random, launch
from tests.fuzz.targets import TARGETS
from tests.support.length import by_length

RUNS = by_length(2_000, 100_000)
MOST_RUNS = 100_000  # in which a planted defect must be found
SMALL = 100
LONGEST = ("accumulator", "k3", "schemas")


def fuzzed(target: str) -> None:
    done = launch(target, RUNS, SHORTER.get(target, SHORT))
    assert done.good, done.output[-6000:]
    assert done.runs >= RUNS  # atheris may add an input or two of its own


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in LONGEST])
def test_by_atheris(target: str) -> None:
    fuzzed(target)


@pytest.mark.parametrize("target", TARGETS)
def test_by_random(target: str) -> None:
    by_random(target, SMALL)


DEFECTS = [("raises", "keyerror"), ("loses", "assertionerror"), ("hangs", "timeout")]


@pytest.mark.parametrize(("defect", "reported"), by_length(DEFECTS[:1], DEFECTS))
def test_a_defect_is_found(defect: str, reported: str) -> None:
    done = launch(defect, MOST_RUNS, SHORT, seconds=2)
    assert not done.good
    assert reported in done.output.lower()


def test_a_defect_is_found_by_random() -> None:
    with pytest.raises(KeyError):
        by_random("raises", MOST_RUNS)
