"""Sixteen times the input costs about sixteen times as much, not two hundred and fifty-six times.

`make test` makes inputs that take long smaller; `make test-all` measures all at full size.
"""

from __future__ import annotations

import gc

import pytest
from bench.floods import FLOODS, Flood
from bench.linear import GOAL, seconds
from tests.support.length import by_length

SMALL, TIMES = 16 * 1024, 16  # TIMES: four doublings
LEAST = 0.001  # seconds: what is quicker than this is measured as this
ENOUGH = by_length(0.005, 1e9)  # seconds: if the small input takes longer than this, a quarter of it says as much
SMALLEST = 512


@pytest.fixture(scope="module", autouse=True)
def _only_new_garbage() -> None:
    """Garbage is collected before each measurement, which need not visit what other tests have left behind."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("flood", FLOODS, ids=lambda flood: flood.name)
def test_cost_grows_as_the_input_does(flood: Flood) -> None:
    size = SMALL // (16 if flood.delta == 1 else 1)  # one chunk per character: fewer characters
    while size > SMALLEST and seconds(flood.make(size), 1) > ENOUGH:
        size //= 4
    small, large = flood.make(size), flood.make(size * TIMES)
    # One good round is enough: a busy machine makes a round slower, never quicker.
    ratios = (seconds(large, 1) / max(seconds(small, 3), LEAST) for _ in range(3))
    assert any(ratio <= GOAL**4 for ratio in ratios)
