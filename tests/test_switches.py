from __future__ import annotations

import os
import subprocess
import sys

import pytest

from moongate.switches import fast_enabled


@pytest.mark.parametrize(
    ("value", "expected"), [(None, True), ("", True), ("1", True), ("0", False), (" 0 ", False), ("00", True)]
)
def test_only_zero_turns_the_fast_path_off(value: str | None, expected: bool) -> None:
    assert fast_enabled({} if value is None else {"MOONGATE_FAST": value}) is expected


@pytest.mark.parametrize(("value", "expected"), [("0", "False"), ("1", "True")])
def test_the_switch_is_read_when_the_process_starts(value: str, expected: str) -> None:
    code = "from moongate.switches import FAST; print(FAST)"
    environ = {**os.environ, "MOONGATE_FAST": value}
    found = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == expected
