"""What Python forgives and machine code does not: the fuzz targets over the compiled modules, with seeded dice.

atheris cannot look into them. It has fuzzed the same sources as Python (tests/fuzz).
"""

from __future__ import annotations

import pytest
from tests.fuzz.run import LARGEST, by_dice
from tests.fuzz.targets import TARGETS
from tests.support.compiled_hooks import COMPILED

RUNS = 10_000


@pytest.mark.skipif(not COMPILED, reason="over machine code only: make tests-compiled")
@pytest.mark.parametrize("name", TARGETS)
def test_every_target_withstands_machine_code(name: str) -> None:
    by_dice(name, RUNS, LARGEST)
