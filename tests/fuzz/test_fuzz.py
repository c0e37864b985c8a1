"""Short inputs for every target: 1 000 in `make test`, 100 000 in `make test-all`. `make fuzz` takes longer ones."""

from __future__ import annotations

import pytest
from tests.fuzz.run import SHORT, SHORTER, Job, Outcome, by_random, launch
from tests.fuzz.targets import TARGETS
from tests.support.length import by_length

RUNS = by_length(1_000, 100_000)
MOST_RUNS = 100_000  # in which a planted defect must be found
SMALL = 100
DEFECTS = by_length({"raises": "keyerror"}, {"raises": "keyerror", "loses": "assertionerror", "hangs": "timeout"})


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    jobs = [Job(target, RUNS, SHORTER.get(target, SHORT)) for target in TARGETS]
    return launch([*jobs, *(Job(defect, MOST_RUNS, SHORT, seconds=2) for defect in DEFECTS)])


@pytest.mark.parametrize("target", TARGETS)
def test_by_atheris(outcomes: dict[str, Outcome], target: str) -> None:
    done = outcomes[target]
    assert done.good, done.output[-6000:]
    assert done.runs >= RUNS  # atheris may add an input or two of its own


@pytest.mark.parametrize("target", TARGETS)
def test_by_random(target: str) -> None:
    by_random(target, SMALL)


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(outcomes: dict[str, Outcome], defect: str) -> None:
    done = outcomes[defect]
    assert not done.good
    assert DEFECTS[defect] in done.output.lower()


def test_a_defect_is_found_by_random() -> None:
    with pytest.raises(KeyError):
        by_random("raises", MOST_RUNS)
