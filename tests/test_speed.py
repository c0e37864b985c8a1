"""A guard, not a benchmark: the hot paths cost no more than some multiple of the JSON library's work.

`python -m bench.core` and `python -m bench.inside` have the figures. Here each has three times its goal (inside the
gateway: three times what was found as Python), and three attempts: what fails this is a design that was lost, never a
busy machine.
"""

from __future__ import annotations

import pytest
import uvloop
from bench import inside
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


# In R: one `orjson.loads` + `orjson.dumps` of the small request.
INSIDE = {"request": 49, "request, messages": 90, "request, responses": 115, "stream of 10": 178, "stream of 100": 304}


@pytest.mark.parametrize("name", INSIDE)
def test_a_request_stays_as_cheap_as_it_was(name: str) -> None:
    for _ in range(ATTEMPTS):
        best = uvloop.run(inside.measured([name], seconds=0.3, rounds=3))
        if best[name] <= ROOM * INSIDE[name] * best["R"]:
            return
    pytest.fail(f"{name}: {best[name] / best['R']:.0f} R, of which {ROOM} times {INSIDE[name]} are allowed")
