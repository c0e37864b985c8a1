"""A guard, not a benchmark: the core's hot paths cost no more than some multiple of the JSON library's work.

`python -m bench.core` has the figures and their goals. Here each has three times its goal, and three attempts: what
fails this is a design that was lost, never a busy machine.
"""

from __future__ import annotations

import pytest
from bench.core import Row, all_rows, measured

ROOM = 3
ATTEMPTS = 3
ROWS = [row for row in all_rows() if row.goal is not None]


def is_quick(row: Row) -> bool:
    ((_, ours, reference),) = measured([row], rounds=3)
    assert row.goal is not None
    return ours <= ROOM * row.goal * reference


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_the_hot_paths_stay_within_reach_of_their_goals(row: Row) -> None:
    assert any(is_quick(row) for _ in range(ATTEMPTS))
