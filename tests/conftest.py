"""For all tests: Hypothesis takes the same examples on every machine, and does not judge a machine for being slow;
gateways hold canaries for secrets, and a test in which one of them shows itself anywhere has failed.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from tests.support.canary_hooks import pytest_runtest_makereport
from tests.support.compiled_hooks import (
    monkeypatch,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_ignore_collect,
)

__all__ = [
    "monkeypatch",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_ignore_collect",
    "pytest_runtest_makereport",
]

settings.register_profile(
    "moongate", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=False
)
settings.load_profile("moongate")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the fuzzing reached in its time."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in getattr(report, "user_properties", ()):
            if name == "fuzz":
                terminalreporter.write_line(f"fuzz: {value}")
