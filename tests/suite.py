"""`make test`, `make test-all` and `.ci/run`: runs make targets and sums up at the end.

    python -m tests.suite short                   every kind of test, some of them short
    python -m tests.suite full                    everything at full length
    python -m tests.suite full --minutes 30       as much of it as fits, in this order

Each step is a make target, so a step that fails can be repeated alone. Steps of different lanes run side by side: tests
with real processes mostly wait, and tests that only compute use the processors meanwhile. The summary has one line per
step with the time that it took, its CPU time and pytest's closing line, then everything that was left out and why. The
exit code is 1 if a step failed.

Tests with real processes and clocks can fail on a machine that is busy with other things. So if at most three tests of
a step fail, they are run once more when nothing else runs, in one process. If they pass, the step passes, and the
summary names them as unstable: each is a race in the test or in the code, to be mended.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parent.parent
CLOSING_LINE = re.compile(r"^=*\s*(\d+ (?:passed|failed|error).* in [\d.]+s(?: \(.*\))?)\s*=*$")
FAILURES = re.compile(r"(\d+) (?:failed|error)")
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) (tests/\S+)")
LEFT_OUT = "left out: "
MOST_REPEATED = 3  # failed tests of a step that are run again
REPEAT = {"PYTEST_ADDOPTS": "--last-failed --last-failed-no-failures=none"}


@dataclass(frozen=True)
class Step:
    """A make target. `minutes` is what it takes at most on two quiet cores; it is not begun with less time left.

    `lane`: neighbours of different lanes run side by side, those of one lane one after the other. Beside lane 0 nothing
    runs.
    """

    target: str
    minutes: float
    what: str
    lane: int = 0


SHORT = (
    Step("lint", 0.5, "ruff, yardsticks"),
    Step("types-and-machine-code", 3, "mypy; the compiled modules for tests, without optimisation"),
    Step("tests-beyond-core", 6, "unit, properties, contracts; faults, fuzz, agents, soak short", lane=1),
    Step("tests-compiled-short", 4, "tests of the compiled modules over them", lane=2),
    Step("tests-plain-short", 4, "session, dialect and gateway tests with MOONGATE_FAST=0", lane=3),
    Step("test-core", 4, "tests of the core, vectors included, with orjson and pytest alone", lane=3),
    Step("test-sdks", 4, "transports and LiteLLM hook with real agent frameworks", lane=2),
    Step("test-site", 2, "the documentation as a site: strict links, search offline in a browser", lane=2),
)
FULL = (
    Step("tests-full", 12, "all tests at full length: fuzzing, floods, every fault at full size through every SDK"),
    Step("tests-plain", 5, "all tests with MOONGATE_FAST=0"),
    Step("compiled", 4, "the gateway as machine code"),
    Step("tests-compiled", 5, "all tests over the optimised compiled modules"),
    Step(
        "test-sdks-full",
        12,
        "every misbehaviour through every agent framework; LiteLLM's proxy with and without the hook",
    ),
    Step("dist", 5, "sdist, pure and compiled wheel: built, checked, installed into empty environments, tried"),
    Step("coverage", 4, "every branch of each pure module from its own test file"),
    Step("fuzz", 12, "100 000 long inputs for each fuzz target"),
    Step("soak", 15, "storms, bombs, slow clients, reloads at full size"),
    Step("agents", 300, "every coding agent on every front through every misbehaviour"),
)
LENGTHS = {"short": SHORT, "full": FULL}


@dataclass
class Result:
    """How a step ended: `code` is None if it was not begun or was stopped by the time limit."""

    step: Step
    code: int | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    closing: str = ""
    left_out: list[str] = field(default_factory=list)
    failed_tests: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return self.code not in (0, None)

    @property
    def failures(self) -> int:
        """How many tests failed, by pytest's closing line."""
        return sum(int(number) for number in FAILURES.findall(self.closing))

    def line(self) -> str:
        state = "failed" if self.failed else "ok" if self.code == 0 else "left out"
        times = f"{self.seconds:5.0f} s  {self.cpu_seconds:5.0f} s CPU"
        return f"{self.step.target:24} {times}  {state:8}  {self.closing or self.step.what}"


@dataclass
class Suite:
    """The steps that are running now, so that all can be stopped together. `end`: when no time is left."""

    make: Sequence[str]
    end: float | None = None
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run_all(self, steps: Sequence[Step]) -> list[Result]:
        """Run all steps, those of different lanes side by side."""
        results: list[Result] = []
        for alone, group in groupby(steps, lambda step: step.lane == 0):
            if alone:
                results += [run_twice(step, self.make, self._seconds_left(), self.running) for step in group]
            else:
                results += self._run_lanes(list(group))
        return results

    def _seconds_left(self) -> float | None:
        return None if self.end is None else self.end - time.monotonic()

    def _run_lanes(self, steps: Sequence[Step]) -> list[Result]:
        """Each lane in a thread. The tests that failed are repeated when all lanes have ended."""
        results: dict[str, Result] = {}
        lanes = {step.lane: [each for each in steps if each.lane == step.lane] for step in steps}
        threads = [
            threading.Thread(target=self._run_lane, args=(lane, results), daemon=True) for lane in lanes.values()
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:
            self.stopped.set()
            for process in list(self.running):
                _stop(process)
            raise
        for result in results.values():
            repeat(result, self.make, self._seconds_left())
        return [results[step.target] for step in steps]

    def _run_lane(self, steps: Sequence[Step], results: dict[str, Result]) -> None:
        for step in steps:
            if not self.stopped.is_set():
                show = _prefixed(step.target)
                results[step.target] = run(step, self.make, self._seconds_left(), running=self.running, show=show)


def run_twice(
    step: Step, make: Sequence[str], seconds_left: float | None, running: set[subprocess.Popen[str]] | None = None
) -> Result:
    """Run one step, and the tests of it that failed once more, if they are few."""
    result = run(step, make, seconds_left, running=running)
    repeat(result, make, None if seconds_left is None else seconds_left - result.seconds)
    return result


def repeat(result: Result, make: Sequence[str], seconds_left: float | None) -> None:
    """Run the tests that failed once more, if they are few: in one process, while nothing else runs."""
    step = result.step
    if result.failed and 0 < result.failures <= MOST_REPEATED:
        print(f"\n--- make {step.target}: the tests that failed, once more, alone", flush=True)
        again = run(Step(step.target, 0, step.what), [*make, "PROCESSES=0"], seconds_left, REPEAT)
        result.seconds += again.seconds
        result.cpu_seconds += again.cpu_seconds
        if again.code == 0:
            result.code = 0
            result.unstable = result.failed_tests


def run(
    step: Step,
    make: Sequence[str],
    seconds_left: float | None,
    environment: Mapping[str, str] | None = None,
    *,
    running: set[subprocess.Popen[str]] | None = None,
    show: Callable[[str], None] = lambda line: print(line, end="", flush=True),
) -> Result:
    """Run one step with its output passed on; stop it when the time is over."""
    result = Result(step)
    if seconds_left is not None and seconds_left < step.minutes * 60:
        needs = f"needs up to {step.minutes:g} min, {max(0.0, seconds_left) / 60:.0f} min are left"
        result.left_out.append(f"make {step.target} ({step.what}): {needs}")
        return result
    print(f"\n--- make {step.target}: {step.what}", flush=True)
    began = time.monotonic()
    # pytest remembers there what failed. Steps that run side by side would overwrite it for one another.
    cache = f"PYTEST_CACHE=build/pytest-cache/{step.target}"
    with _started([*make, cache, step.target], environment or {}) as process:
        running = set() if running is None else running
        running.add(process)
        timer = threading.Timer(threading.TIMEOUT_MAX if seconds_left is None else seconds_left, _stop, (process,))
        timer.start()
        try:
            _follow(process, result, show)
            result.code = _wait(process, result)
        except BaseException:
            _stop(process)
            raise
        finally:
            timer.cancel()
            running.discard(process)
    result.seconds = time.monotonic() - began
    if seconds_left is not None and result.seconds >= seconds_left:
        result.code = None
        result.left_out.append(f"the rest of make {step.target} ({step.what}): stopped by the time limit")
    return result


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """In a session of its own, so that everything the step has started can be stopped together."""
    variables = {**os.environ, **environment}
    pipe, merged = subprocess.PIPE, subprocess.STDOUT
    return subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=pipe, stderr=merged, text=True, start_new_session=True
    )


def _stop(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.killpg(process.pid, signal.SIGTERM)


def _wait(process: subprocess.Popen[str], result: Result) -> int:
    """The exit code; also counts the CPU time of the step with all processes that it has waited for."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    result.cpu_seconds = usage.ru_utime + usage.ru_stime
    return process.returncode


def _prefixed(target: str) -> Callable[[str], None]:
    """Prints lines of a step beside which others run."""
    return lambda line: print(f"{target}: {line}", end="", flush=True)


def _follow(process: subprocess.Popen[str], result: Result, show: Callable[[str], None]) -> None:
    """Pass the output on, and keep what the summary needs of it."""
    assert process.stdout is not None
    for line in process.stdout:
        show(line)
        _note(result, line.strip())


def _note(result: Result, line: str) -> None:
    found = CLOSING_LINE.match(line)
    failed = FAILED_TEST.match(line)
    if found:
        result.closing = found[1]
    elif failed:
        result.failed_tests.append(failed[1])
    elif line.startswith(LEFT_OUT):
        result.left_out.append(line.removeprefix(LEFT_OUT))


def summary(results: Sequence[Result], seconds: float) -> str:
    lines = [result.line() for result in results]
    left_out = dict.fromkeys(reason for result in results for reason in result.left_out)
    lines += [f"{LEFT_OUT}{reason}" for reason in left_out]
    lines += [f"unstable: {test} failed, and passed alone" for result in results for test in result.unstable]
    failed = [result.step.target for result in results if result.failed]
    lines.append(f"{seconds / 60:.1f} min: {'failed: ' + ', '.join(failed) if failed else 'nothing failed'}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.suite", description="Run the tests and sum up.")
    parser.add_argument("length", choices=LENGTHS)
    parser.add_argument("--minutes", type=float, help="begin no step that may not fit into this time")
    parser.add_argument("--make", default="make", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    began = time.monotonic()
    end = None if options.minutes is None else began + options.minutes * 60
    results = Suite([options.make, "--no-print-directory"], end).run_all(LENGTHS[options.length])
    print(f"\n=== {options.length}\n{summary(results, time.monotonic() - began)}", flush=True)
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
