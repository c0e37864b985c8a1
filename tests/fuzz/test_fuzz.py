"""The fuzzing's short form. `make fuzz` gives every target 100 000 runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.run import by_dice
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]
RUNS = 150


@pytest.mark.parametrize("target", TARGETS)
def test_by_dice(target: str) -> None:
    by_dice(target, RUNS)


def test_by_atheris() -> None:
    """All targets in one process, as instrumenting them takes longer than the runs."""
    command = [sys.executable, "-m", "tests.fuzz.run", "everything", "1000"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "Done 1000 runs" in done.stderr or "seeded dice instead" in done.stdout
