"""For pytest: tests that need what may be absent, and skips under `CI=true`.

- `pytest.mark.needs("systemd")` skips a test on a machine without the package (`system_packages` has the rows); a
  fixture calls `require("postgresql")`.
- Under `CI=true` a skip is a failure: everything has been installed, so nothing may be left out.
- Tests of the core that need another Python package than pytest are in files of their own, which `EXTRA` recognises by
  their names. Where the package is absent (`make test-core`) they are not collected.
- `--beyond-core=PATH` leaves out what `make test-core` runs of this file or folder.
- The end of the run names what was left out and why, as lines that begin with `left out:` (`tests.suite` repeats them).
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Generator
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeVar

import pytest
from tests.support.compiled_hooks import ONLY_INTERPRETED
from tests.support.system_packages import BY_NAME, is_ci

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

EXTRA = {
    "hypothesis": ("*_properties.py", "*/tests/properties/*.py"),
    "openai": ("*/test_openai_sdk.py",),
    "anthropic": ("*/test_anthropic_sdk.py",),
}
ABSENT = {package for package in EXTRA if importlib.util.find_spec(package) is None}
NOT_COLLECTED = pytest.StashKey[dict[str, set[str]]]()


def extra_package(path: Path) -> str | None:
    """The Python package that a test file needs beyond pytest, by its name."""
    for package, patterns in EXTRA.items():
        if any(fnmatch(path.as_posix(), pattern) for pattern in patterns):
            return package
    return None


def require(name: str) -> None:
    """For a fixture: skip the test that asks for it where a system package is missing."""
    if not BY_NAME[name].is_installed():
        pytest.skip(BY_NAME[name].reason)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--beyond-core", action="append", default=[], metavar="PATH", help="leave out what `make test-core` runs of it"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOT_COLLECTED] = {}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    package = extra_package(collection_path)
    if package is None:
        return _runs_in_core(collection_path, config)
    if package not in ABSENT:
        return None
    name = str(collection_path.relative_to(config.rootpath))
    config.stash[NOT_COLLECTED].setdefault(package, set()).add(name)
    return True


def _runs_in_core(path: Path, config: pytest.Config) -> bool | None:
    """A test file that needs no further package, below a folder of `--beyond-core`, is not collected."""
    if path.suffix != ".py" or not path.name.startswith("test_"):
        return None
    folders = (config.rootpath / each for each in config.getoption("--beyond-core"))
    return True if any(path.is_relative_to(folder) for folder in folders) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("needs"):
            for name in mark.args:
                if name not in BY_NAME:
                    raise pytest.UsageError(f"{item.nodeid} needs {name!r}, which has no row in system_packages.py")
                if not BY_NAME[name].is_installed():
                    item.add_marker(pytest.mark.skip(reason=BY_NAME[name].reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _failed_if_skipped(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _failed_if_skipped(report)


def _failed_if_skipped(report: Report) -> Report:
    """A test that only Python can run has been run as Python: skipping it over compiled modules leaves nothing out."""
    if is_ci() and report.skipped and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        if not reason.startswith(ONLY_INTERPRETED):
            report.outcome = "failed"
            report.longrepr = f"skipped although CI=true: {reason}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    longrepr = report.longrepr
    return str(longrepr[2] if isinstance(longrepr, tuple) else longrepr).removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reasons = Counter(_reason(report) for report in terminalreporter.getreports("skipped"))
    for reason, number in reasons.items():
        if not reason.startswith(ONLY_INTERPRETED):
            terminalreporter.write_line(f"left out: {number} tests: {reason}")
    for package, files in config.stash[NOT_COLLECTED].items():
        terminalreporter.write_line(f"left out: {len(files)} files without {package}: {', '.join(sorted(files))}")
