"""`make kvv DIR=…`: runs a checkout of Moonshot's Kimi-Vendor-Verifier against the simulator and the gateway.

    python -m tests.contract.kvv DIR [--suite NAME]... [--python PATH] [--workers N]

Three targets: the simulator, the gateway before it, and the gateway with its rules for requests off. The table says
what passed; of what failed it tells apart what only a real model can pass and what a repairing gateway mends by
design. The exit code is 1 if anything else failed, 2 if a suite could not be run.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from tests.agents.subprocess_group import run
from tests.support.background import Background
from tests.support.gateway import run_gateway

from moongate import sim

SUITES: Final = ("k3_features", "params", "tool_call_json_schema")
MODEL: Final = "kimi-k3"
SUITE_SECONDS: Final = 3600.0
NEEDS_WEIGHTS: Final = re.compile(
    r"test_response_format_prompt_tokens_without|test_response_format_with\b|test_prompt_tokens"
)
BY_DESIGN: Final = re.compile(
    r"test_invalid_dynamic_tool_name_rejected\[.*(?:starts_with_number|special_char|too_long)|test_wrong_param_rejected"
)
RULES_OFF: Final = {"host": "moonshot", "parameterRules": "off", "schemaRules": "off", "learnFromRefusals": False}


@dataclass(frozen=True, slots=True)
class Target:
    """What a suite is pointed at. `mends`: whether refusals may be mended by design."""

    name: str
    base_url: str
    key: str
    model: str
    mends: bool = False


@dataclass(slots=True)
class SuiteResult:
    """How the tests of one suite ended against one target; `trouble` if they could not be run."""

    suite: str
    target: str
    passed: int = 0
    skipped: int = 0
    weights: list[str] = field(default_factory=list)
    by_design: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    trouble: str = ""

    def line(self) -> str:
        if self.trouble:
            return f"| {self.suite} | {self.target} | could not be run | | | | |"
        counts = (self.passed, len(self.failed), len(self.by_design), len(self.weights), self.skipped)
        return f"| {self.suite} | {self.target} | {' | '.join(map(str, counts))} |"


@contextmanager
def targets() -> Iterator[list[Target]]:
    """The simulator and the gateway, running."""
    with Background() as background:
        simulator = background.start(sim.start())
        base = simulator.url.replace("/v1", "/moonshot-walls/v1")
        chains = {"gateway": {"host": "moonshot"}, "rules-off": RULES_OFF}
        providers = [
            {"name": name, "api_base_url": base, "models": [MODEL], "transformer": {"use": [["Kimi", options]]}}
            for name, options in chains.items()
        ]
        with run_gateway({"providers": providers}) as gateway:
            root = f"{gateway.root}/v1"
            yield [
                Target("simulator", base, "none", MODEL),
                Target("gateway", root, gateway.key, f"gateway,{MODEL}", mends=True),
                Target("gateway, rules off", root, gateway.key, f"rules-off,{MODEL}"),
            ]


def run_suite(checkout: Path, suite: str, target: Target, python: str, workers: int) -> SuiteResult:
    """Run one suite of the checkout with pytest and read its JUnit report."""
    result = SuiteResult(suite, target.name)
    folder = checkout / "tests" / suite
    if not folder.is_dir():
        result.trouble = f"{folder} is not there: is this a checkout of Kimi-Vendor-Verifier?"
        return result
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "junit.xml"
        argv = [python, "-m", "pytest", "-q", str(folder), f"--junitxml={report}", "-p", "no:cacheprovider"]
        argv += ["--base-url", target.base_url, "--api-key", target.key, "--smoke-model", target.model]
        argv += ["-n", str(workers)] if workers else []
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("KIMI_", "WALLE_"))}
        finished = run(argv, checkout, SUITE_SECONDS, {**environment, "PYTHONDONTWRITEBYTECODE": "1"})
        if finished.code not in (0, 1) or not report.exists():
            result.trouble = (finished.out + finished.err).strip()[-2000:] or "pytest has said nothing"
            return result
        for case in ElementTree.parse(report).iter("testcase"):
            _count(result, case, target)
    return result


def _count(result: SuiteResult, case: ElementTree.Element, target: Target) -> None:
    name = f"{case.get('classname')}::{case.get('name')}"
    if case.find("skipped") is not None:
        result.skipped += 1
    elif case.find("failure") is None and case.find("error") is None:
        result.passed += 1
    elif NEEDS_WEIGHTS.search(name):
        result.weights.append(name)
    elif target.mends and BY_DESIGN.search(name):
        result.by_design.append(name)
    else:
        result.failed.append(name)


def report(results: Sequence[SuiteResult]) -> str:
    """The table, then what failed or could not be run."""
    lines = [
        "| suite | target | passed | failed | repaired by design | needs real weights | skipped |",
        "|---|---|---|---|---|---|---|",
        *(result.line() for result in results),
    ]
    lines += [f"failed: {result.target}: {name}" for result in results for name in result.failed]
    troubles: dict[str, list[str]] = {}
    for result in results:
        if result.trouble:
            troubles.setdefault(result.trouble, []).append(f"{result.suite} against {result.target}")
    lines += [f"could not be run: {', '.join(runs)}: {trouble}" for trouble, runs in troubles.items()]
    if any("ModuleNotFoundError" in trouble for trouble in troubles):
        lines.append(
            "The checkout needs its dependencies: install them into its .venv, or name a --python that has them."
        )
    return "\n".join(lines)


def interpreter(checkout: Path, wanted: str | None) -> str:
    """The Python that has the checkout's dependencies: the one named, that of its .venv, or this one."""
    own = checkout / ".venv" / "bin" / "python"
    return wanted or (str(own) if own.exists() else sys.executable)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make kvv", description="Run a checkout of Kimi-Vendor-Verifier against us.")
    parser.add_argument("checkout", type=Path, metavar="DIR")
    parser.add_argument("--suite", action="append", choices=SUITES, help="all if none is named")
    parser.add_argument("--python", metavar="PATH", help="a Python with the checkout's dependencies")
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="processes (needs pytest-xdist there)")
    options = parser.parse_args(arguments)
    checkout = options.checkout.resolve()
    python = interpreter(checkout, options.python)
    results = []
    with targets() as running:
        for suite in options.suite or SUITES:
            for target in running:
                results.append(run_suite(checkout, suite, target, python, options.workers))
                print(results[-1].line(), flush=True)
    print(report(results))
    if any(result.trouble for result in results):
        return 2
    return int(any(result.failed for result in results))


if __name__ == "__main__":
    sys.exit(main())
