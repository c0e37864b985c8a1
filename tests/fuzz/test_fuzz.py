"""The fuzzing's short form. `make fuzz` gives every target 100 000 runs."""

from __future__ import annotations

import pytest
from tests.fuzz.run import by_dice, launch
from tests.fuzz.targets import TARGETS

RUNS = 100


@pytest.mark.parametrize("target", TARGETS)
def test_by_dice(target: str) -> None:
    by_dice(target, RUNS)


def test_by_atheris() -> None:
    """All targets in one process, as instrumenting them takes longer than the runs."""
    done = launch("everything", 600, timeout=300)
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Done 600 runs" in done.stdout or "seeded dice instead" in done.stdout
