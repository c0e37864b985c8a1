"""The other half of the targets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.fuzz.targets import TARGETS
from tests.fuzz.test_fuzz import REQUESTS, fuzzed


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in REQUESTS])
def test_by_atheris(target: str, record_property: Callable[[str, object], None]) -> None:
    fuzzed(target, record_property)
