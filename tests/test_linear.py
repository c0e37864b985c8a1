"""Sixteen times the input costs about sixteen times as much, not two hundred and fifty-six times."""

from __future__ import annotations

import pytest
from bench.floods import FLOODS, Flood
from bench.linear import GOAL, seconds

SMALL, LARGE = 16 * 1024, 256 * 1024  # four doublings
LEAST = 0.001  # seconds: what is quicker than this is measured as this


@pytest.mark.parametrize("flood", FLOODS, ids=lambda flood: flood.name)
def test_cost_grows_as_the_input_does(flood: Flood) -> None:
    share = 16 if flood.delta == 1 else 1  # one chunk per character: fewer characters
    small, large = flood.make(SMALL // share), flood.make(LARGE // share)
    # One good round is enough: a busy machine makes a round slower, never quicker.
    ratios = (seconds(large, 1) / max(seconds(small, 3), LEAST) for _ in range(3))
    assert any(ratio <= GOAL**4 for ratio in ratios)
