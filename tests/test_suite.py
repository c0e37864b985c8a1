"""The runner behind `make test` and `.ci/run` (`tests/suite.py`), with a small script in the place of make."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.suite import FULL, SHORT, Result, Step, Suite, run, run_twice, summary

ROOT = Path(__file__).parent.parent


def script(*lines: str) -> list[str]:
    return [sys.executable, "-c", "import sys, time\n" + "\n".join(lines)]


def test_every_step_is_a_target_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for step in SHORT + FULL:
        assert f"\n{step.target}:" in makefile


def test_the_short_suite_fits_into_its_promise_and_the_full_one_is_ordered_for_a_time_limit() -> None:
    assert FULL[0].target == "tests-full"
    assert [step.minutes for step in FULL][-1] == max(step.minutes for step in FULL)


def test_the_closing_line_of_pytest_and_what_was_left_out_are_in_the_summary() -> None:
    make = script(
        "print('====== 3 passed, 1 skipped in 0.52s ======')",
        "print('left out: 1 tests: systemd is not installed')",
    )
    result = run(Step("tests", 1, "all tests"), make, None)
    assert result.code == 0
    shown = summary([result], 90)
    assert "tests" in shown
    assert "ok" in shown
    assert "3 passed, 1 skipped in 0.52s" in shown
    assert "left out: 1 tests: systemd is not installed" in shown
    assert shown.endswith("1.5 min: nothing failed")


def test_a_failure_is_named() -> None:
    result = run(Step("lint", 1, "ruff"), script("print('2 failed, 1 passed in 3.0s')", "sys.exit(2)"), None)
    assert result.failed
    assert "2 failed, 1 passed in 3.0s" in summary([result], 1)
    assert summary([result], 1).endswith("failed: lint")


FLAKY = """
import os, pathlib
seen = pathlib.Path({path!r})
again = "--last-failed" in os.environ.get("PYTEST_ADDOPTS", "") and "PROCESSES=0" in sys.argv
seen.write_text(seen.read_text() + "again\\n" * again if seen.exists() else "")
if again and {mended}:
    print("1 passed in 0.1s")
else:
    print("FAILED tests/cli/test_serve.py::test_it - assert False")
    print("{failed} failed, 5 passed in 3.0s")
    sys.exit(1)
"""


@pytest.mark.parametrize(("mended", "failed", "code", "repeated"), [(1, 2, 0, 1), (0, 2, 1, 1), (1, 4, 1, 0)])
def test_a_few_failed_tests_are_run_again_alone(
    tmp_path: Path, mended: int, failed: int, code: int, repeated: int
) -> None:
    seen = tmp_path / "seen"
    result = run_twice(
        Step("tests", 1, "all"), script(FLAKY.format(path=str(seen), mended=mended, failed=failed)), None
    )
    assert result.code == code
    assert seen.read_text().count("again") == repeated
    unstable = "unstable: tests/cli/test_serve.py::test_it failed, and passed alone" in summary([result], 1)
    assert unstable == (code == 0)


def test_what_failed_without_pytest_is_not_repeated(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    lines = (f"open({str(seen)!r}, 'a').write('x')", "sys.exit(1)")
    assert run_twice(Step("lint", 1, "ruff"), script(*lines), None).failed
    assert seen.read_text() == "x"


def test_a_step_that_may_not_fit_is_not_begun_and_that_is_reported() -> None:
    result = run(Step("soak", 15, "storms"), script("sys.exit(1)"), 600)
    assert not result.failed
    assert "left out: make soak (storms): needs up to 15 min, 10 min are left" in summary([result], 1)


def test_a_step_that_takes_too_long_is_stopped_with_all_that_it_started_and_that_is_reported() -> None:
    began = time.monotonic()
    make = script("import subprocess", "subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])")
    result = run(Step("fuzz", 0.001, "long inputs"), make, 1.0)
    assert time.monotonic() - began < 30
    assert not result.failed
    assert "left out: the rest of make fuzz (long inputs): stopped by the time limit" in summary([result], 1)


def test_the_same_reason_is_reported_once() -> None:
    results = [Result(Step(name, 1, name), 0, left_out=["npm is not installed"]) for name in ("a", "b")]
    assert summary(results, 1).count("npm is not installed") == 1


def test_steps_of_different_lanes_run_side_by_side_after_those_before_them(tmp_path: Path) -> None:
    """Two steps each of which waits until the other one has begun, and one that must have ended before."""
    waits = f"""
import pathlib
target, folder = sys.argv[-1], pathlib.Path({str(tmp_path)!r})
others = {{"first": set(), "left": {{"first", "right"}}, "right": {{"first", "left"}}, "last": {{"left", "right"}}}}
(folder / target).touch()
end = time.monotonic() + 60
while not others[target] <= {{each.name for each in folder.iterdir()}} and time.monotonic() < end:
    time.sleep(0.01)
assert target != "last" or (folder / "left.done").exists() and (folder / "right.done").exists()
assert target in ("first", "last") or (folder / "first.done").exists()
assert time.monotonic() < end
(folder / (target + ".done")).touch()
print("1 passed in 0.1s")
"""
    steps = [Step("first", 1, ""), Step("left", 1, "", lane=1), Step("right", 1, "", lane=2), Step("last", 1, "")]
    results = Suite(script(waits)).run_all(steps)
    assert [(result.step.target, result.code, result.closing) for result in results] == [
        (name, 0, "1 passed in 0.1s") for name in ("first", "left", "right", "last")
    ]


def test_tests_that_failed_in_a_lane_are_run_again_when_all_lanes_have_ended(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    lines = f"""
import os, pathlib
again = "--last-failed" in os.environ.get("PYTEST_ADDOPTS", "")
if sys.argv[-1] == "slow":
    time.sleep(1)
with pathlib.Path({str(seen)!r}).open("a") as file:
    file.write(sys.argv[-1] + " again" * again + "\\n")
if sys.argv[-1] == "flaky" and not again:
    print("FAILED tests/test_it.py::test_it - assert False")
    print("1 failed, 5 passed in 3.0s")
    sys.exit(1)
print("1 passed in 0.1s")
"""
    results = Suite(script(lines)).run_all([Step("flaky", 1, "", lane=1), Step("slow", 1, "", lane=2)])
    assert [result.code for result in results] == [0, 0]
    assert seen.read_text().splitlines() == ["flaky", "slow", "flaky again"]
    assert "unstable: tests/test_it.py::test_it failed, and passed alone" in summary(results, 1)


def test_each_step_has_a_place_of_its_own_where_pytest_remembers_what_failed() -> None:
    shown: list[str] = []
    run(Step("lint", 1, "ruff"), script("print(sys.argv[1:])"), None, show=shown.append)
    assert shown == ["['PYTEST_CACHE=build/pytest-cache/lint', 'lint']\n"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    runs = [line for line in makefile.splitlines() if "-m pytest" in line or "$(BIN)/pytest" in line]
    assert len(runs) >= 5
    assert [line for line in runs if "$(IN_CACHE)" not in line] == []


def test_the_cpu_time_of_a_step_counts_all_its_processes() -> None:
    busy = "end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    make = script(
        "import subprocess", f"subprocess.run([sys.executable, '-c', 'import time\\n' + {busy!r}], check=True)"
    )
    assert run(Step("tests", 1, "all tests"), make, None).cpu_seconds > 0.2


NEEDY = """
import pytest
@pytest.mark.needs("made-up")
def test_it():
    raise AssertionError
def test_other():
    pass
"""
ROW = """
from tests.support import system_packages
row = system_packages.SystemPackage("made-up", "a test", lambda: False, ("made-up-1",))
system_packages.BY_NAME["made-up"] = row
"""


@pytest.mark.parametrize("ci", ["true", ""])
def test_a_test_without_its_system_package_is_skipped_with_the_reason_and_fails_in_ci(tmp_path: Path, ci: str) -> None:
    """One row is all that a new system package needs."""
    (tmp_path / "test_needy.py").write_text(NEEDY)
    (tmp_path / "made_up_row.py").write_text(ROW)
    done = _pytest(tmp_path, ci)
    reason = "made-up is not installed (Debian: apt install made-up-1)"
    if ci:
        assert done.returncode == 1
        assert f"skipped although CI=true: {reason}" in done.stdout
        assert "1 error" in done.stdout
    else:
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"left out: 1 tests: {reason}" in done.stdout
        assert "1 passed, 1 skipped" in done.stdout


def test_a_system_package_without_a_row_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_needy.py").write_text(NEEDY)
    (tmp_path / "made_up_row.py").write_text("")
    done = _pytest(tmp_path, "")
    assert done.returncode == 4
    assert "'made-up', which has no row in system_packages.py" in done.stdout + done.stderr


def _pytest(folder: Path, ci: str) -> subprocess.CompletedProcess[str]:
    plugins = ("made_up_row", "tests.support.compiled_hooks", "tests.support.requirement_hooks")
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(folder), "-c", "/dev/null"]
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "CI": ci, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(f"-p{each}" for each in plugins), str(folder / "test_needy.py")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
