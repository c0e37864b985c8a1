"""Two gateways on two machines, in short: limits are exact, and the books agree whatever dies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fleet.network import can_make_namespaces

ROOT = Path(__file__).parents[2]
TIMEOUT = 300.0


@pytest.mark.needs("redis", "postgresql", "nginx", "iproute2")
@pytest.mark.skipif(not can_make_namespaces(), reason="network namespaces need root")
@pytest.mark.parametrize("scenario", ["exact", "mixed"])
def test_short_form(scenario: str) -> None:
    command = [sys.executable, "-m", "tests.fleet", "--short", scenario]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
