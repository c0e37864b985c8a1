"""pytest hooks: a test in which a secret was written anywhere fails."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from tests.support.canary import WATCH

_readouterr = pytest.CaptureFixture.readouterr


def _searched(self: pytest.CaptureFixture[Any]) -> Any:
    """Search what a test reads from the capture, because it will not be in the report."""
    found = _readouterr(self)
    _search(("the captured output", each) for each in found)
    return found


pytest.CaptureFixture.readouterr = _searched  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _search(report.sections)
    leaks = WATCH.take()
    if leaks:
        report.outcome = "failed"
        before = [str(report.longrepr)] if report.longrepr else []
        report.longrepr = "\n".join([*before, *dict.fromkeys(leaks)])
    return report


def _search(sections: Any) -> None:
    for name, text in sections:
        WATCH.search(text if isinstance(text, bytes) else text.encode("utf-8", "replace"), name)
