"""The soak's short form: every scenario, small, in a process of its own. `make soak` runs them at full length."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.soak.__main__ import SHORT

ROOT = Path(__file__).parents[2]
TIMEOUT = 180.0


@pytest.mark.parametrize("scenario", SHORT)
def test_short_form(scenario: str) -> None:
    command = [sys.executable, "-m", "tests.soak", "--short", scenario]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
