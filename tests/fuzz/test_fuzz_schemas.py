"""The schema normaliser, which takes longer than most: see `test_fuzz`."""

from __future__ import annotations

from tests.fuzz.test_fuzz import fuzzed


def test_by_atheris() -> None:
    fuzzed("schemas")
