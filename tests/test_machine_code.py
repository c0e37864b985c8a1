"""The fuzz targets over the compiled modules, with seeded random inputs. Collected with `pytest --compiled` only.

atheris cannot instrument compiled modules; it fuzzes the same sources as Python (tests/fuzz).
"""

from __future__ import annotations

import pytest
from tests.fuzz.run import MAX_INPUT, by_random
from tests.fuzz.targets import TARGETS
from tests.support.length import by_length

RUNS = by_length(2_000, 10_000)


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_withstands_machine_code(name: str) -> None:
    by_random(name, RUNS, MAX_INPUT)
